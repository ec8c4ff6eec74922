"""Rows of a Dask collection, swept by the workers that hold them."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any
from uuid import uuid4

import numpy as np

from cprime.blocks import Block, concatenated
from cprime.kernels import Kernel
from cprime.rows import block_tasks
from cprime.rows.base import SLICE_ROWS, Part, Rows, restored_parts
from cprime.rows.block_tasks import Given, Scaling, Swept
from cprime.rows.memory import MemoryRows
from cprime.rows.on_workers import DaskColumn, DaskKept
from cprime.search import Plan
from cprime.sources.cluster import (
    Task,
    added_up,
    results,
    shared,
    started,
    task,
    task_at,
)
from cprime.sources.collection import DaskData
from cprime.sources.collection_weights import DaskWeights
from cprime.sources.homes import Home, in_turn
from cprime.sources.leaf_runs import overlaps
from cprime.sources.pieces import as_array
from cprime.storage.container import Stored
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.typing import Array


class DaskRows(Rows):
    """Weighted rows that stay on the workers of a cluster, or with Dask's scheduler.

    Every block is swept by a task of its own, where it is, and sums are added up on
    the way: nothing but parameters and statistics travels. Blocks are whole leaves, so
    results have the bits of the same rows in memory.

    Parameters
    ----------
    data : DaskData
    weights : DaskWeights, optional
        By default every row weighs 1.
    scale : float, default=1.0
        A power of two every value is multiplied by.
    """

    def __init__(
        self, data: DaskData, weights: DaskWeights | None = None, scale: float = 1.0
    ):
        self.X = data
        self._weights = DaskWeights() if weights is None else weights
        self._scaling = Scaling(scale, self._weights.factor)

    @property
    def n_rows(self) -> int:
        return self.X.n_rows

    @property
    def n_features(self) -> int:
        return self.X.n_features

    @property
    def block(self) -> Block | None:
        return None

    @property
    def origin(self) -> str:
        return self.X.origin

    @cached_property
    def weight(self) -> float:
        return float(self.reduce(block_tasks.weight))

    def extremes(self) -> tuple[Array, Array]:
        return self._extremes

    @cached_property
    def _extremes(self) -> tuple[Array, Array]:
        return super().extremes()

    def take(self, indices: Array) -> Array:
        taken = self.X.take(indices)
        scale = self._scaling.values
        return (taken if scale == 1.0 else taken * scale).astype(np.float64)

    def subset(self, indices: Array) -> MemoryRows:
        weights = np.ones(len(indices))
        for i, at in self.X.inside(indices):
            part = self._weights.of(i)
            if part is not None:
                weights[at] = results([part])[0][indices[at] - self.X.places[i].start]
        taken = self.X.take(indices)
        return MemoryRows(taken, weights * self._scaling.weights, self._scaling.values)

    def parts(self, per_row: tuple[Array, ...]) -> Iterator[Part]:
        """Yield all rows, block by block; they come here for it."""
        for i, place in enumerate(self.X.places):
            here = task(block_tasks.together, self.X.blocks[i], self._weights.of(i))
            held, weights = results([here])[0]
            block = block_tasks.block_of(held, weights, self._scaling)
            arrays = (array[place] for array in per_row)
            yield Part(place.start, (block.dense(slice(None)), block.weights, *arrays))

    def swept(
        self,
        kernel: Kernel,
        K: DaskKept | None,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[DaskKept, LeafSum]:
        sweep = Swept(uuid4().hex, kernel, coefficients, plan, C_prime)
        wanted = started([shared(sweep)])[0]
        scaling = shared(self._scaling)
        changed = 1.0 if K is None else K.changed
        homes = self._settle()
        origins = [[] if K is None else K.origin_of(i) for i in range(len(homes))]
        arguments = [
            [held, self._weights.of(i), scaling, wanted, origins[i], changed]
            for i, held in enumerate(self.X.blocks)
        ]
        sums = in_turn(homes, block_tasks.sweep_block, arguments)
        total = added_up(sums, LeafSum.folded)
        width = 0 if C_prime == len(coefficients.means) else C_prime
        before = K.origin if K is not None and sweep.needs_before else []
        return DaskKept(self, (self.n_rows, width), [*before, wanted]), total

    def restored(self, stored: Stored, C: int) -> DaskKept:
        lengths = [place.stop - place.start for place in self.X.places]
        key, given = uuid4().hex, []
        waiting = np.empty((0, *stored.shape[1:]), dtype=np.int32)
        parts = restored_parts(stored, self.n_rows, C)
        for length in lengths:
            while len(waiting) < length:
                waiting = np.concatenate([waiting, next(parts)])
            given.append(shared(Given(key, waiting[:length].copy())))
            waiting = waiting[length:]
        shape = (self.n_rows, stored.shape[1])
        return DaskKept(self, shape, [tuple(started(given))])

    def assigned(self, function: Callable[..., Array], *columns: Any) -> DaskKept:
        key, wanted = uuid4().hex, shared(function)
        given = [
            task(block_tasks.given, key, wanted, *(of.of(i) for of in columns))
            for i in range(len(self.X.places))
        ]
        return DaskKept(self, (self.n_rows, 1), [tuple(started(given))])

    def map(self, function: Callable[..., Any], *per_row: Any) -> Any:
        """Return function(values, weights) of every row, as a Dask array.

        Of rows that were fitted from the blocks they are in, and kept there; of others
        lazily, chunk by chunk.
        """
        sample = function(np.zeros((1, self.n_features), self.X.dtype), np.ones(1))
        if isinstance(sample, tuple):
            raise ValueError(
                "Sparse results are not supported for Dask collections: ask for dense "
                "ones, sparse=False."
            )
        if self.X.is_open:
            return self._in_chunks(self._asked("map", function), sample)
        scale = self._scaling.values

        def of_chunk(values: Array) -> Any:
            return MemoryRows(values, None, scale).map(function)

        return self.X.by_chunks(of_chunk, sample)

    def examined(self, of_rows: Any, examine: Callable[[Array, int], None]) -> Any:
        def of_chunk(values: Array, block_info: Any = None) -> Array:
            first = block_info[0]["array-location"][0][0]
            examine(values, 0 if np.isnan(first) else int(first))
            return values

        return of_rows.map_blocks(of_chunk, dtype=of_rows.dtype, meta=of_rows._meta)

    def of_parts(self, function: Callable[..., Any]) -> Any:
        return concatenated(results(self._asked("of_parts", function)))

    def columns(self, function: Callable[..., Any], *per_row: Any) -> Any:
        tasks = started(self._asked("map", function, *per_row))
        sample = results([task(block_tasks.kinds, tasks[0])])[0]
        if sample is None:
            return DaskColumn(tasks)
        return tuple(DaskColumn(tasks, place) for place in range(sample))

    def leaf_sum(self, function: Callable[..., Any], *per_row: Any) -> LeafSum:
        total: LeafSum = added_up(
            self._asked("leaf_sum", function, *per_row), LeafSum.folded
        )
        return total

    def leaf_mean(self, function: Callable[..., Any], *per_row: Any) -> LeafSum:
        total: LeafSum = added_up(
            self._asked("leaf_mean", function, *per_row), LeafSum.folded
        )
        return total

    def sum_slices(self, function: Callable[..., Any], *columns: Any) -> Any:
        wanted = shared(function)
        tasks = [
            task(block_tasks.leaf_of_slice, i, wanted, *pieces)
            for i, pieces in enumerate(self._pieces(columns))
        ]
        return added_up(tasks, LeafSum.folded).total()

    def pick(self, function: Callable[..., Any], *columns: Any) -> tuple[Array, ...]:
        wanted = shared(function)
        tasks = [
            task(block_tasks.of_slice, wanted, *pieces)
            for pieces in self._pieces(columns)
        ]
        found = [
            (places + i * SLICE_ROWS, *others)
            for i, (places, *others) in enumerate(results(tasks))
        ]
        return tuple(np.concatenate(column) for column in zip(*found))

    def _in_chunks(self, tasks: list[Task], sample: Array) -> Any:
        """Return numbers of every row, made block by block, in the user's chunks."""
        lengths = tuple(place.stop - place.start for place in self.X.places)
        found = as_array(started(tasks), lengths, sample)
        return found.rechunk({0: self.X.chunk_rows})

    def _asked(
        self, method: str, function: Callable[..., Any], *per_row: Any
    ) -> list[Task]:
        """Return what a method of the rows of every block makes of a function."""
        wanted, scaling = shared(function), shared(self._scaling)
        homes = self._settle()
        return [
            task_at(
                homes[i],
                block_tasks.ask_block,
                held,
                self._weights.of(i),
                scaling,
                method,
                wanted,
                *(of.of(i) for of in per_row),
            )
            for i, held in enumerate(self.X.blocks)
        ]

    def _settle(self) -> list[Home]:
        """Return the worker of every block, with which its weights are too."""
        homes = self.X.settle()
        self._weights = self._weights.at(homes)
        return homes

    def _pieces(self, columns: tuple[DaskColumn, ...]) -> Iterator[list[Task]]:
        """Yield, of every slice of rows, what blocks have of weights and columns."""
        lengths = tuple(place.stop - place.start for place in self.X.places)
        for begin in range(0, self.n_rows, SLICE_ROWS):
            some = slice(begin, min(begin + SLICE_ROWS, self.n_rows))
            yield [
                task(
                    block_tasks.slice_of,
                    lengths[i],
                    self._weights.of(i),
                    self._scaling.weights,
                    start,
                    stop,
                    *(column.of(i) for column in columns),
                )
                for i, start, stop in overlaps(lengths, some)
            ]
