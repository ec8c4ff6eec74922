"""Rows of a Dask array or DataFrame, which stay with the workers that hold them."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from cprime.kernels.native import magnitude
from cprime.sources.chunks import (
    Check,
    as_numbers,
    evaluated,
    unchanged,
)
from cprime.sources.cluster import (
    Task,
    added_up,
    in_order,
    results,
    shared,
    started,
    task,
)
from cprime.sources.cluster_checks import check_memory, check_workers
from cprime.sources.held import HeldBlock
from cprime.sources.homes import Home, settled
from cprime.sources.leaf_hashes import fingerprint_of, leaf_hashes
from cprime.sources.leaf_runs import leaf_runs
from cprime.sources.pieces import as_array, cut
from cprime.summation import LeafSum
from cprime.typing import Array


class DaskData:
    """The rows of a Dask collection, in the chunks it has and in blocks of leaves.

    Chunks may end anywhere, blocks end with a leaf: of what two neighbours share, a
    few rows move from one to the other. Nothing happens until rows are asked for.

    Parameters
    ----------
    X : dask Array of shape (N, D) or DataFrame
        Of numbers.

    Attributes
    ----------
    dtype : dtype
        float32 or float64, of the rows as they are computed with.
    names : tuple of str, or None
        Of the columns.
    origin : str
        What the user calls it.
    checks : list of Check
        Are called with the rows of every chunk before they are evaluated, and with what
        says where a row of it is.
    """

    def __init__(self, X: Any):
        self._X = X
        self.is_frame = hasattr(X, "columns")
        self.names = tuple(X.columns) if self.is_frame else None
        self.origin = "a Dask DataFrame" if self.is_frame else "a Dask array"
        self.dtype = np.dtype(dtype_of(X))
        self.checks: list[Check] = []

    @property
    def n_features(self) -> int:
        return int(self._X.shape[1])

    @property
    def n_rows(self) -> int:
        """How many rows there are. They are counted, if Dask does not know it."""
        return sum(self.chunk_rows)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.n_features

    @property
    def declared_rows(self) -> tuple[int | None, ...]:
        """How many rows every chunk has, if Dask knows."""
        if self.is_frame:
            return (None,) * int(self._X.npartitions)
        return tuple(None if np.isnan(n) else int(n) for n in self._X.chunks[0])

    @cached_property
    def chunk_rows(self) -> tuple[int, ...]:
        """How many rows every chunk has."""
        declared = [n for n in self.declared_rows if n is not None]
        if len(declared) == len(self.declared_rows):
            return tuple(declared)
        return tuple(results([task(len, chunk) for chunk in self._started]))

    @cached_property
    def chunks(self) -> list[Task]:
        """The rows of every chunk as an array of numbers."""
        X = self._X if self.is_frame else self._X.rechunk({1: -1})
        dtype = self.dtype
        parts = np.ravel(X.to_delayed())
        return [task(as_numbers, part, dtype) for part in parts]

    @cached_property
    def _started(self) -> list[Task]:
        check_workers()
        known = [n for n in self.declared_rows if n is not None]
        check_memory(max(known, default=0) * self.n_features * self.dtype.itemsize)
        return started(self._evaluated(unchanged))

    @cached_property
    def places(self) -> list[slice]:
        """Where the rows of every block lie."""
        if self.n_rows == 0:
            raise ValueError(f"X is {self.origin} without any rows.")
        return leaf_runs(self.chunk_rows)

    @property
    def is_open(self) -> bool:
        """Whether workers hold the rows already."""
        return "blocks" in vars(self)

    @cached_property
    def blocks(self) -> list[Task]:
        """What workers hold of the rows: a `HeldBlock` for every place."""
        pieces = cut(self._started, self.chunk_rows, self.places)
        held = [
            task(HeldBlock.of, place.start, *of_place)
            for place, of_place in zip(self.places, pieces)
        ]
        found = started(held)
        # The blocks hold the rows from here on.
        del self._started
        return found

    def settle(self) -> list[Home]:
        """Return the worker that holds every block, after workers have equal shares."""
        sizes = [place.stop - place.start for place in self.places]
        self.blocks, homes = settled(self.blocks, sizes)
        return homes

    @cached_property
    def largest(self) -> float:
        """The largest absolute value; inf or nan if there is one."""
        found = results([task(_magnitude, block) for block in self.blocks])
        return float(np.max(found, initial=0.0))

    def first(self, where: Callable[[Array], Array]) -> tuple[int, int, float, int]:
        """Return row, column and value of the first hit, and the number of hits."""
        wanted = shared(where)
        found = results([task(_first, block, wanted) for block in self.blocks])
        row, column, value = next(hit for hit, _ in found if hit is not None)
        return row, column, value, sum(count for _, count in found)

    def leaf_sum(self, of_block: Callable[[int, Array], LeafSum]) -> LeafSum:
        """Return the sum of of_block(first row, rows) over all blocks."""
        wanted = shared(of_block)
        tasks = [task(_of_block, block, wanted) for block in self.blocks]
        total: LeafSum = added_up(tasks, LeafSum.folded)
        return total

    def take(self, indices: Array) -> Array:
        """Return these rows, shape (len(indices), D)."""
        taken = np.empty((len(indices), self.n_features), dtype=self.dtype)
        inside = self.inside(indices)
        tasks = [
            task(_take, self.blocks[i], indices[at] - self.places[i].start)
            for i, at in inside
        ]
        for (_, at), rows in zip(inside, results(tasks)):
            taken[at] = rows
        return taken

    def inside(self, indices: Array) -> list[tuple[int, Array]]:
        """Return the blocks these rows are in, and which of them are in each."""
        starts = np.array([place.start for place in self.places])
        block = np.searchsorted(starts, indices, side="right") - 1
        return [(int(i), np.flatnonzero(block == i)) for i in np.unique(block)]

    def fingerprint(self) -> str:
        """Return a hash of shape, dtype and values, however they are divided."""
        hashes = [task(_leaf_hashes, block) for block in self.blocks]
        return fingerprint_of(hashes, self.shape, self.dtype.str)

    def by_chunks(self, function: Callable[..., Any], sample: Any) -> Any:
        """Return what function(values) gives for every row, as a lazy Dask array.

        Parameters
        ----------
        function : callable
        sample : ndarray
            What it gives for a few rows, of which dtype and shape are taken.
        """
        return as_array(self._evaluated(function), self.declared_rows, sample)

    def each_chunk(self, function: Callable[[Array], Any]) -> Iterator[Any]:
        """Yield a function of the rows of every chunk, which no worker keeps."""
        return in_order(self._evaluated(function))

    def _evaluated(self, function: Callable[[Array], Any]) -> list[Task]:
        """Return a function of the rows of every chunk, which are checked before."""
        wanted = shared((function, list(self.checks)))
        ends = np.cumsum([np.nan if n is None else n for n in self.declared_rows])
        starts = [0, *(None if np.isnan(end) else int(end) for end in ends[:-1])]
        return [
            task(evaluated, chunk, wanted, index, start)
            for index, (chunk, start) in enumerate(zip(self.chunks, starts))
        ]


def dtype_of(X: Any) -> Any:
    """Return the dtype in which the numbers of a collection are computed with."""
    dtypes = list(X.dtypes) if hasattr(X, "columns") else [X.dtype]
    return np.float32 if all(d == np.float32 for d in dtypes) else np.float64


def _magnitude(block: HeldBlock) -> float:
    return magnitude(block.values)


def _first(
    block: HeldBlock, where: Callable[[Array], Array]
) -> tuple[tuple[int, int, float] | None, int]:
    hits = where(block.values)
    if not hits.any():
        return None, 0
    row, column = (int(i) for i in np.argwhere(hits)[0])
    found = block.first + row, column, float(block.values[row, column])
    return found, int(np.count_nonzero(hits))


def _of_block(block: HeldBlock, function: Callable[[int, Array], LeafSum]) -> LeafSum:
    return function(block.first, block.values)


def _take(block: HeldBlock, indices: Array) -> Array:
    taken: Array = block.values[indices]
    return taken


def _leaf_hashes(block: HeldBlock) -> bytes:
    return leaf_hashes(block.values)
