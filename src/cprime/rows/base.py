"""What can be asked of rows, wherever they live."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from cprime.blocks import LEAF_ROWS, Block, Resident, concatenated
from cprime.kernels import Kernel
from cprime.search import Plan
from cprime.stats import Stats, weighted_sum
from cprime.storage.container import Stored
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.typing import Array

# Clusters of so many rows are read at once.
STORED_ROWS = 2**18
# Numbers of so many rows are read at once: sums over them are formed in this order.
SLICE_ROWS = 2**18


class Part(NamedTuple):
    """Consecutive rows from the start of a leaf, and what belongs to each of them.

    Attributes
    ----------
    first : int
        Number of the first row.
    arrays : tuple of ndarray
        Values and weights, and what else there is an entry of for every row.
    """

    first: int
    arrays: tuple[Array, ...]

    def leaves(self) -> Iterator[tuple[int, tuple[Array, ...]]]:
        """Yield the number of every leaf, and the arrays of its rows."""
        for start in range(0, len(self.arrays[0]), LEAF_ROWS):
            of_leaf = tuple(array[start : start + LEAF_ROWS] for array in self.arrays)
            yield (self.first + start) // LEAF_ROWS, of_leaf


class Rows(ABC):
    """Weighted rows that come in parts of whole leaves, wherever they are kept.

    K, the clusters each row keeps, is what a sweep returns. It has a `shape`, can be
    told its `labels()`, the `part(indices)` of some rows, `reassigned(indices,
    cluster)` and `parts()` of arrays to write; callers never look further inside.

    Attributes
    ----------
    weights : ndarray of shape (N,)
    """

    weights: Array

    @property
    def resident(self) -> Resident | None:
        """The rows as a kernel keeps them elsewhere, once it has them."""
        return None

    @property
    @abstractmethod
    def n_rows(self) -> int: ...

    @property
    @abstractmethod
    def n_features(self) -> int: ...

    @property
    @abstractmethod
    def block(self) -> Block | None:
        """All rows as they lie together, unless memory does not hold them."""

    @property
    @abstractmethod
    def origin(self) -> str:
        """What a user calls the place they are read from."""

    @abstractmethod
    def subset(self, indices: Array) -> "Rows":
        """Return these rows alone, in memory."""

    @abstractmethod
    def parts(self, per_row: tuple[Array, ...]) -> Iterator[Part]:
        """Yield all rows in their order, with the same part of arrays `per_row`."""

    @abstractmethod
    def swept(
        self,
        kernel: Kernel,
        K: Any,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[Any, LeafSum]:
        """Run one E-step over all rows as a kernel does it; return K and the sums."""

    @abstractmethod
    def restored(self, stored: Stored, C: int) -> Any:
        """Return the K of C clusters that was written, or say why it is none of ours.

        Without hints, which change no result.
        """

    def take(self, indices: Array) -> Array:
        """Return these rows as a float64 array."""
        block = self.subset(indices).block
        assert block is not None
        return block.dense(slice(None)).astype(np.float64)

    def sweep(
        self,
        kernel: Kernel,
        K: Any,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[Any, Stats]:
        """Run one E-step over all rows; return K and statistics."""
        after, sums = self.swept(kernel, K, coefficients, plan, C_prime)
        stats = sums.total()
        if stats is None:
            plan = replace(plan, careful=True)
            after, sums = self.swept(kernel, K, coefficients, plan, C_prime)
            stats = sums.total()
        # Of all rows, whatever blocks they come in: so is then what hints save.
        changed = stats.changed / self.n_rows
        if after.changed != changed:
            after = replace(after, changed=changed)
        return after, stats

    def extremes(self) -> tuple[Array, Array]:
        """Return the smallest and largest value of every feature, of weighted rows."""

        def of_part(values: Array, weights: Array) -> tuple[Array, Array]:
            if weights.min() > 0:
                lowest, highest = values.min(axis=0), values.max(axis=0)
            else:
                weighted = (weights > 0)[:, None]
                lowest = values.min(axis=0, initial=np.inf, where=weighted)
                highest = values.max(axis=0, initial=-np.inf, where=weighted)
            return lowest[None].astype(np.float64), highest[None].astype(np.float64)

        lowest, highest = self.of_parts(of_part)
        return lowest.min(axis=0), highest.max(axis=0)

    @cached_property
    def weight(self) -> float:
        """The weight of all rows together."""
        leaves = Part(0, (self.weights,)).leaves()
        sums = (LeafSum.of_leaf(leaf, np.sum(of_leaf)) for leaf, (of_leaf,) in leaves)
        return float(reduce(add, sums).total())

    def gathered(self, parts: Iterator[Any]) -> Any:
        """Return results of consecutive parts as one."""
        return concatenated(list(parts))

    def map(self, function: Callable[..., Any], *per_row: Array) -> Any:
        """Return function(values, weights, *per_row) of every part, in the rows' order.

        Arrays with an entry for every row come along in the same parts. A function that
        returns several arrays gives a tuple of them.
        """
        return self.gathered(function(*part.arrays) for part in self.parts(per_row))

    def examined(self, of_rows: Array, examine: Callable[[Array, int], None]) -> Array:
        """Return numbers that `map` gave, after examine(numbers, first row).

        Wherever they are computed: it raises if something is wrong with them.
        """
        examine(of_rows, 0)
        return of_rows

    def of_parts(self, function: Callable[..., Any]) -> Any:
        """Return what function(values, weights) says of every part, one after another.

        A few numbers that do not depend on how rows are divided, once they are put
        together: extremes, and the like.
        """
        return concatenated([function(*part.arrays) for part in self.parts(())])

    def columns(self, function: Callable[..., Any], *per_row: Any) -> Any:
        """Return what `map` does, for numbers of every row that are read in slices.

        They may come along again; wherever they are kept, those that were read do not
        count as memory.
        """
        return self.map(function, *per_row)

    def reduce(self, function: Callable[..., Any], *per_row: Array) -> Any:
        """Return the sum of function(values, weights, *per_row) over all leaves."""
        return self.leaf_sum(function, *per_row).total()

    def leaf_sum(self, function: Callable[..., Any], *per_row: Array) -> LeafSum:
        """Return that sum as the one over a run of leaves, to be added to others."""
        leaves = (
            LeafSum.of_leaf(leaf, function(*arrays))
            for part in self.parts(per_row)
            for leaf, arrays in part.leaves()
        )
        return reduce(add, leaves)

    def sum_slices(self, function: Callable[..., Any], *columns: Any) -> Any:
        """Return the sum of function(weights, *columns) over slices of all rows.

        For what is summed of numbers that `columns` gave: rows are not looked at.
        """
        leaves = (
            LeafSum.of_leaf(i, function(*of_slice))
            for i, (_, of_slice) in enumerate(self._slices(columns))
        )
        return reduce(add, leaves).total()

    def pick(self, function: Callable[..., Any], *columns: Any) -> tuple[Array, ...]:
        """Return the few rows that function(weights, *columns) picks from slices.

        It returns their places in the slice, and any other numbers of them; here they
        come with their places among all rows.
        """
        found = []
        for start, of_slice in self._slices(columns):
            places, *others = function(*of_slice)
            found.append((places + start, *others))
        return tuple(np.concatenate(column) for column in zip(*found))

    @abstractmethod
    def assigned(self, function: Callable[..., Array], *columns: Any) -> Any:
        """Return K, one cluster a row, that function(*columns) gives of their slices.

        The columns are those of `columns`.
        """

    def _slices(self, columns: Any) -> Iterator[tuple[int, tuple[Array, ...]]]:
        """Yield the first of consecutive rows, their weights, and numbers of them."""
        for start in range(0, self.n_rows, SLICE_ROWS):
            some = slice(start, min(start + SLICE_ROWS, self.n_rows))
            yield start, tuple(column[some] for column in (self.weights, *columns))

    def mean(self, function: Callable[..., Array], *per_row: Array) -> float:
        """Return the weighted mean of what function(values, weights, *per_row) gives.

        It returns a number for every row; those of no weight may be infinite.
        """
        total, weight = self.leaf_mean(function, *per_row).total()
        return float(total / weight)

    def leaf_mean(self, function: Callable[..., Array], *per_row: Array) -> LeafSum:
        """Return the sums this is the quotient of, to be added to those of others."""
        sums = (
            LeafSum.of_leaf(leaf, _weighted(*arrays))
            for first, of in self.parts(per_row)
            for leaf, arrays in Part(first, (function(*of), of[1])).leaves()
        )
        return reduce(add, sums)


def _weighted(of_rows: Array, weights: Array) -> Array:
    return np.array([weighted_sum(weights, of_rows), np.sum(weights)])


def restored_parts(stored: Stored, n_rows: int, C: int) -> Iterator[Array]:
    """Return the parts of a K that was written, or say why it is none of these rows."""
    wrong = f"it holds clusters of other rows: {stored.shape} {stored.dtype}"
    if len(stored.shape) != 2 or stored.dtype != "<i4":
        raise ValueError(wrong)
    if stored.shape[0] != n_rows or stored.shape[1] > C:
        raise ValueError(wrong)

    def checked(part: Array) -> Array:
        if part.min(initial=0) < 0 or part.max(initial=0) >= C:
            raise ValueError(f"it holds clusters that are not among the {C}")
        return part

    return (checked(part) for part in stored.parts(STORED_ROWS))
