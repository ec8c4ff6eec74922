"""Rows drawn by mass, with few looks at some numbers that are kept of each.

A draw is a point on cumulated masses, as in `seeding`, but rows stand in the order of
random keys. Keys are spread evenly, so sums over ranges of keys tell which few ranges
the points fall into, and only the rows of those are put in order. Nothing but numbers
of every row that come in slices is needed: they may be in a file.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from cprime.draws import drawn
from cprime.kernels import Kernel
from cprime.ordering import places_by_value
from cprime.rows import Rows
from cprime.sampling import Direction
from cprime.typing import Array

# Ranges of keys.
BUCKET_BITS = 16


class KeyedRows:
    """Rows in the order of keys that depend on their values alone.

    Identical rows have the same key, so they stand together, wherever they are.

    Attributes
    ----------
    from_middle : numbers of every row, float64
        Squared distance to the middle between the extremes of all features.
    """

    def __init__(self, rows: Rows, kernel: Kernel, rng: np.random.Generator):
        direction, salt = Direction(rows, rng), int(rng.integers(2**63))
        middle = direction.middle[None]

        def keyed(values: Array, weights: Array) -> tuple[Array, Array]:
            from_middle = kernel.distances(values, middle)[:, 0]
            return direction.keys(values, salt), from_middle

        self._rows = rows
        self._keys, self.from_middle = rows.columns(keyed)

    def draw(
        self, points: Array, of_weight: Callable[..., Array], *columns: Any
    ) -> Array:
        """Return the values of rows at these points of the cumulated masses.

        Different rows, ordered by value; none if no row has any mass. Parameters as
        `draw_places`.
        """
        chosen = np.unique(self.draw_places(points, of_weight, *columns))
        if len(chosen) == 0:
            return np.empty((0, self._rows.n_features))
        different: Array = np.unique(self._rows.take(chosen), axis=0)
        return different

    def draw_places(
        self, points: Array, of_weight: Callable[..., Array], *columns: Any
    ) -> Array:
        """Return the number of the row at each of these points.

        Of identical rows it may be any. None at all if no row has any mass.

        Parameters
        ----------
        points : ndarray of shape (any,)
            In [0, 1).
        of_weight : callable
            Returns masses per unit of weight, of some rows' numbers in `columns`.
        columns : numbers of every row
        """

        def sums(weights: Array, keys: Array, *numbers: Array) -> Array:
            masses = weights * of_weight(*numbers)
            return np.bincount(_buckets(keys), masses, 2**BUCKET_BITS)

        of_buckets = self._rows.sum_slices(sums, self._keys, *columns)
        if not of_buckets.any():
            return np.empty(0, dtype=np.intp)
        hit = drawn(of_buckets, points)
        before = np.concatenate([[0.0], np.cumsum(of_buckets)])
        inside = (points * before[-1] - before[hit]) / of_buckets[hit]
        rows, keys, masses = self._inside(np.unique(hit), of_weight, columns)
        places = _places(_buckets(keys), masses, hit, inside)
        # Rows that differ may share a key.
        shared = _sharing(keys, np.unique(places))
        if len(shared) > 0:
            contents = self._rows.take(rows[shared])
            value = places_by_value(contents)
            order = shared[np.lexsort((value, keys[shared]))]
            rows[shared], masses[shared] = rows[order], masses[order]
            places = _places(_buckets(keys), masses, hit, inside)
        chosen: Array = rows[places]
        return chosen

    def _inside(
        self, hit: Array, of_weight: Callable[..., Array], columns: tuple[Any, ...]
    ) -> tuple[Array, Array, Array]:
        """Return rows of some mass in these buckets, by key, with keys and masses."""
        is_hit = np.zeros(2**BUCKET_BITS, dtype=bool)
        is_hit[hit] = True

        def inside(weights: Array, keys: Array, *numbers: Array) -> tuple[Array, ...]:
            masses = weights * of_weight(*numbers)
            chosen = np.flatnonzero(is_hit[_buckets(keys)] & (masses > 0))
            return chosen, keys[chosen], masses[chosen]

        rows, keys, masses = self._rows.pick(inside, self._keys, *columns)
        order = np.argsort(keys, kind="stable")
        return rows[order], keys[order], masses[order]


def _buckets(keys: Array) -> Array:
    found: Array = (keys >> np.uint64(64 - BUCKET_BITS)).astype(np.intp)
    return found


def _places(buckets: Array, masses: Array, hit: Array, inside: Array) -> Array:
    """Return where rows lie, in shares `inside` of the masses of the buckets `hit`."""
    cumulated = np.concatenate([[0.0], np.cumsum(masses)])
    first, stop = (np.searchsorted(buckets, hit, side) for side in ("left", "right"))
    start = cumulated[first]
    points = start + inside * (cumulated[stop] - start)
    found = np.searchsorted(cumulated[1:], points, side="right")
    places: Array = np.clip(found, first, stop - 1)
    return places


def _sharing(keys: Array, places: Array) -> Array:
    """Return all places with a key that several have, one of `places` among them."""
    first = np.searchsorted(keys, keys[places], "left")
    stop = np.searchsorted(keys, keys[places], "right")
    groups = np.unique(np.stack([first, stop], axis=1)[stop - first > 1], axis=0)
    shared = [np.arange(*group) for group in groups]
    return np.concatenate(shared) if shared else np.empty(0, dtype=np.intp)
