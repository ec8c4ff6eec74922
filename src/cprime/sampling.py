"""A sample of rows that sees neither their order nor how often they are repeated."""

import math

import numpy as np

from cprime.ordering import MULTIPLIERS, SHIFTS, places_by_value
from cprime.rows import MemoryRows, Rows
from cprime.typing import Array

# Rows that are looked at together.
AT_ONCE = 2**16
# Rows whose features are added up while they are in cache.
IN_CACHE = 2**12


class Direction:
    """One random direction, and where rows lie along it.

    Identical rows lie in the same place; multiplying all rows by a power of two
    multiplies their places.

    Parameters
    ----------
    rows : Rows
    rng : Generator

    Attributes
    ----------
    direction : ndarray of shape (D,)
    middle : ndarray of shape (D,)
        Between the extremes of every feature.
    unit : float
        Places are multiplied by it before they are mixed to keys.
    """

    def __init__(self, rows: Rows, rng: np.random.Generator):
        self.direction = rng.standard_normal(rows.n_features)
        lowest, highest = rows.extremes()
        # Half-way between the extremes, not the mean: no sum that depends on order.
        self.middle = lowest + 0.5 * (highest - lowest)
        width = float((highest - lowest).max())
        # A power of two: multiplying all rows by one changes no key.
        self.unit = math.ldexp(1.0, -math.frexp(width)[1])

    def places(self, values: Array) -> Array:
        """Return where rows lie, shape (B,)."""
        found = np.zeros(len(values))
        for start in range(0, len(values), IN_CACHE):
            some = slice(start, start + IN_CACHE)
            columns = np.ascontiguousarray(values[some].T, dtype=np.float64)
            for column, middle, step in zip(columns, self.middle, self.direction):
                found[some] += (column - middle) * step
        return found

    def keys(self, values: Array, salt: int) -> Array:
        """Return a number for every row as if drawn at random, the same for copies."""
        # Zero has two signs.
        bits = (self.places(values) * self.unit + 0.0).view(np.uint64) ^ np.uint64(salt)
        for shift, multiplier in zip(SHIFTS, MULTIPLIERS):
            bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(multiplier)
        mixed: Array = bits ^ (bits >> np.uint64(SHIFTS[-1]))
        return mixed


def distinct_sample(rows: Rows, size: int, rng: np.random.Generator) -> MemoryRows:
    """Return up to `size` different rows, each with the weight of all its copies.

    Rows of no weight are left out. Every different row has the same chance: those are
    taken whose random keys, which depend on their values alone, are lowest.

    Parameters
    ----------
    rows : Rows
    size : int
    rng : Generator
    """
    direction, salt = Direction(rows, rng), int(rng.integers(2**63))
    sample = _Sample(rows.n_features, size)
    for part in rows.parts(()):
        values, weights = part.arrays
        for start in range(0, len(values), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            chosen = np.flatnonzero(weights[some] > 0)
            found = values[some][chosen]
            sample.add(direction.keys(found, salt), found, weights[some][chosen])
    return MemoryRows(sample.values, sample.weights)


class _Sample:
    """The rows of lowest keys so far, in the order of their keys."""

    def __init__(self, n_features: int, size: int):
        self._size = size
        self._keys = np.empty(0, dtype=np.uint64)
        self.values = np.empty((0, n_features))
        self.weights = np.empty(0)

    def add(self, keys: Array, values: Array, weights: Array) -> None:
        if len(self._keys) == self._size:
            low = keys <= self._keys[-1]
            keys, values, weights = keys[low], values[low], weights[low]
        if len(keys) == 0:
            return
        self._keys = np.concatenate([self._keys, keys])
        self.values = np.concatenate([self.values, values])
        self.weights = np.concatenate([self.weights, weights])
        self._merge_copies()

    def _merge_copies(self) -> None:
        order = np.argsort(self._keys, kind="stable")
        keys = self._keys[order]
        is_first = np.concatenate([[True], keys[1:] != keys[:-1]])
        shared = np.flatnonzero(~(is_first & np.concatenate([is_first[1:], [True]])))
        if len(shared) > 0:
            # Different rows rarely share a key, but they may.
            contents = self.values[order[shared]]
            value = places_by_value(contents)
            by_value = np.lexsort((value, keys[shared]))
            order[shared] = order[shared[by_value]]
            value = value[by_value]
            is_first[shared[1:]] |= value[1:] != value[:-1]
        first = np.flatnonzero(is_first)
        weights = np.add.reduceat(self.weights[order], first)
        kept = order[first[: self._size]]
        self._keys, self.values = self._keys[kept], self.values[kept]
        self.weights = weights[: self._size]
