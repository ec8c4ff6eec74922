"""Rows that are read from disk block by block."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from cprime.blocks import LEAF_ROWS, Block, Kept
from cprime.kernels import Kernel
from cprime.rows.base import Part, Rows, restored_parts
from cprime.rows.column import Column, KeptInBlocks
from cprime.rows.memory import MemoryRows
from cprime.search import Plan
from cprime.sources import Data
from cprime.storage.container import Stored
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.typing import Array

# What there is for every row (clusters, labels, distances) may take so much of the
# memory each; more of it goes to disk.
SHARE_OF_A_COLUMN = 0.125
# What kernels note of the rows may take this much; the rest of it is dropped.
SHARE_OF_HINTS = 0.25


class FileRows(Rows):
    """Weighted rows that stay where they are, in a file.

    Blocks are whole leaves, swept as if they were all there is, and their sums are
    added by `LeafSum`: results have the same bits as those of the same rows in memory.
    Hints are kept of as many blocks as a share of the memory holds, the first ones.

    Parameters
    ----------
    data : Data
    weights : ndarray of shape (N,), optional
        By default every row weighs 1.
    scale : float, default=1.0
        A power of two every value is multiplied by.
    """

    def __init__(self, data: Data, weights: Array | None = None, scale: float = 1.0):
        if weights is None:
            weights = np.broadcast_to(1.0, data.n_rows)
        self.X = data
        self.weights = weights
        self.scale = scale

    @property
    def n_rows(self) -> int:
        return self.X.n_rows

    @property
    def n_features(self) -> int:
        return self.X.n_features

    @property
    def block(self) -> None:
        return None

    @property
    def origin(self) -> str:
        return self.X.origin

    def blocks(self) -> Iterator[tuple[slice, Block]]:
        """Yield where every block lies, and its rows."""
        for first, values in self.X.blocks():
            place = slice(first, first + len(values))
            yield place, Block(values, self.weights[place], self.scale, first)

    def subset(self, indices: Array) -> MemoryRows:
        return MemoryRows(self.X.take(indices), self.weights[indices], self.scale)

    def restored(self, stored: Stored, C: int) -> KeptInBlocks:
        parts, start = restored_parts(stored, self.n_rows, C), 0
        clusters = self._column(stored.shape[1], np.int32)
        for part in parts:
            clusters.put(part, start)
            start += len(part)
        return KeptInBlocks(clusters)

    def assigned(self, function: Callable[..., Array], *columns: Any) -> KeptInBlocks:
        clusters = self._column(1, np.int32)
        for start, (_, *of_slice) in self._slices(columns):
            clusters.put(function(*of_slice)[:, None], start)
        return KeptInBlocks(clusters)

    def parts(self, per_row: tuple[Array, ...]) -> Iterator[Part]:
        for place, block in self.blocks():
            arrays = (array[place] for array in per_row)
            yield Part(place.start, (block.dense(slice(None)), block.weights, *arrays))

    def gathered(self, parts: Iterator[Any]) -> Any:
        """Return results of consecutive parts as one, on disk if there are too many."""
        first = next(parts)
        several = isinstance(first, tuple)
        head = first if several else (first,)
        columns = self._filled(chain([first], parts), several)
        shapes = [(self.n_rows, *array.shape[1:]) for array in head]
        whole = tuple(column.array().reshape(s) for column, s in zip(columns, shapes))
        return whole if several else whole[0]

    def columns(self, function: Callable[..., Any], *per_row: Any) -> Any:
        parts = (function(*part.arrays) for part in self.parts(per_row))
        first = next(parts)
        several = isinstance(first, tuple)
        columns = self._filled(chain([first], parts), several)
        return tuple(columns) if several else columns[0]

    def _filled(self, parts: Iterator[Any], several: bool) -> list[Column]:
        """Return columns of what consecutive parts of all rows give."""
        columns: list[Column] = []
        start = 0
        for part in parts:
            arrays = part if several else (part,)
            if not columns:
                columns = [self._column(array[0].size, array.dtype) for array in arrays]
            for column, array in zip(columns, arrays):
                column.put(array.reshape(len(array), -1), start)
            start += len(arrays[0])
        return columns

    def swept(
        self,
        kernel: Kernel,
        K: KeptInBlocks | None,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[KeptInBlocks, LeafSum]:
        def sweep_block(place: slice, values: Array) -> tuple[Kept, LeafSum]:
            weights = self.weights[place]
            block = Block(values, weights, self.scale, place.start)
            before = None if K is None else K.of_block(place)
            keep_hints = plan.keep_hints and (K is None or K.has_room(place))
            of_block = replace(plan, keep_hints=keep_hints)
            return kernel.sweep(block, before, coefficients, of_block, C_prime)

        clusters: Column | None = None
        sums = None
        hints, room = {}, SHARE_OF_HINTS * self.X.memory
        with closing(self.X.abreast(sweep_block)) as results:
            for place, (kept, found) in results:
                if clusters is None:
                    clusters = self._column(kept.K.shape[1], np.int32)
                clusters.put(kept.K, place.start)
                if kept.hints is not None:
                    room -= kept.hints.nbytes
                    if room >= 0:
                        hints[place.start, place.stop] = kept.hints
                found = found.shifted(place.start // LEAF_ROWS)
                sums = found if sums is None else sums + found
        assert clusters is not None and sums is not None
        full = room < 0 or (K is not None and K.full)
        return KeptInBlocks(clusters, hints, full), sums

    def _column(self, width: int, dtype: Any) -> Column:
        """Return room for so many numbers for every row."""
        memory = int(SHARE_OF_A_COLUMN * self.X.memory)
        return Column((self.n_rows, width), dtype, memory, self.X.scratch)
