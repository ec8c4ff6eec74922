"""Rows that are read from disk block by block."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from cprime.blocks import LEAF_ROWS, Block, Hints, Kept, concatenated
from cprime.kernels import Kernel
from cprime.rows.column import Column
from cprime.rows.memory import MemoryRows
from cprime.rows.parts import Part, RowsInParts, restored_parts
from cprime.search import Plan
from cprime.sources import Data
from cprime.storage.container import Blocks, Stored
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.typing import Array

# What there is for every row (clusters, labels, distances) may take so much of the
# memory each; more of it goes to disk.
SHARE_OF_A_COLUMN = 0.125
# What kernels note of the rows may take this much; the rest of it is dropped.
SHARE_OF_HINTS = 0.25


@dataclass(frozen=True)
class KeptInBlocks:
    """The clusters every row of a file keeps, with the hints of every block.

    Attributes
    ----------
    clusters : Column
    hints : dict
        What a kernel noted of the block that starts and stops there.
    full : bool
        There is no memory for hints of other blocks.
    changed : float
        As of `Kept`.
    """

    clusters: Column
    hints: dict[tuple[int, int], Hints] = field(default_factory=dict)
    full: bool = False
    changed: float = 1.0

    def part(self, place: slice) -> Kept:
        """Return what the rows of one block keep."""
        hints = self.hints.get((place.start, place.stop))
        return Kept(self.clusters.read(place), hints, self.changed)

    def has_room(self, place: slice) -> bool:
        """Return whether hints of this block are kept, if there are any."""
        return not self.full or (place.start, place.stop) in self.hints


class FileRows(RowsInParts):
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

    def blocks(self) -> Iterator[tuple[slice, Block]]:
        """Yield where every block lies, and its rows."""
        for first, values in self.X.blocks():
            place = slice(first, first + len(values))
            yield place, Block(values, self.weights[place], self.scale)

    def take(self, indices: Array) -> Array:
        values = self.X.take(indices).astype(np.float64)
        return values if self.scale == 1.0 else values * self.scale

    def subset(self, indices: Array, K: KeptInBlocks) -> tuple[MemoryRows, Kept]:
        rows = MemoryRows(self.X.take(indices), self.weights[indices], self.scale)
        return rows, Kept(K.clusters.take(indices))

    def labels(self, K: KeptInBlocks) -> Array | None:
        if K.clusters.width == 0:
            return None
        if K.clusters.width == 1:
            return K.clusters.array()[:, 0]
        labels = self._column(1, np.int32)
        for place in self._places():
            labels.put(K.clusters.read(place)[:, :1], place.start)
        return labels.array()[:, 0]

    def reassign(self, K: KeptInBlocks, indices: Array, cluster: int) -> KeptInBlocks:
        moved = self._column(K.clusters.width, np.int32)
        for place in self._places():
            part = K.clusters.read(place).copy()
            inside = indices[(indices >= place.start) & (indices < place.stop)]
            part[inside - place.start] = cluster
            moved.put(part, place.start)
        return KeptInBlocks(moved)

    def stored(self, K: KeptInBlocks) -> Blocks:
        parts = (K.clusters.read(place) for place in self._places())
        return Blocks(K.clusters.shape, "<i4", parts)

    def restored(self, stored: Stored, C: int) -> KeptInBlocks:
        parts, start = restored_parts(stored, self.n_rows, C), 0
        clusters = self._column(stored.shape[1], np.int32)
        for part in parts:
            clusters.put(part, start)
            start += len(part)
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
        if any(len(array) != min(self.X.block_rows, self.n_rows) for array in head):
            # Not a number for every row, but what a part comes to.
            return concatenated([first, *parts])
        columns = [self._column(array[0].size, array.dtype) for array in head]
        start = 0
        for part in chain([first], parts):
            for column, array in zip(columns, part if several else (part,)):
                column.put(array.reshape(len(array), -1), start)
            start += len(array)
        shapes = [(self.n_rows, *array.shape[1:]) for array in head]
        whole = tuple(column.array().reshape(s) for column, s in zip(columns, shapes))
        return whole if several else whole[0]

    def draw_seeds(
        self, kernel: Kernel, line: Array, first: int, points: Array
    ) -> tuple[Array, int]:
        raise ValueError(
            "k-means++ looks at all rows once for every cluster, which takes too long "
            f"with rows that are read from {self.X.origin}: draw seeds from a sample, "
            "init='sampled-k-means++', or give centres as init."
        )

    def fits_at_once(self, kernel: Kernel, C: int) -> int:
        return 1

    def swept(
        self,
        kernel: Kernel,
        K: KeptInBlocks | None,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[KeptInBlocks, LeafSum]:
        def of_block(place: slice, values: Array) -> tuple[Kept, LeafSum]:
            block = Block(values, self.weights[place], self.scale)
            if K is None:
                return kernel.sweep(block, None, coefficients, plan, C_prime)
            of_place = plan
            if not K.has_room(place):
                of_place = replace(plan, keep_hints=False)
            return kernel.sweep(block, K.part(place), coefficients, of_place, C_prime)

        clusters: Column | None = None
        sums = None
        hints, room = {}, SHARE_OF_HINTS * self.X.memory
        with closing(self.X.abreast(of_block)) as results:
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

    def _places(self) -> Iterator[slice]:
        """Yield where every block lies, without reading it."""
        size = self.X.block_rows
        for start in range(0, self.n_rows, size):
            yield slice(start, min(start + size, self.n_rows))

    def _column(self, width: int, dtype: Any) -> Column:
        """Return room for so many numbers for every row."""
        memory = int(SHARE_OF_A_COLUMN * self.X.memory)
        return Column((self.n_rows, width), dtype, memory, self.X.scratch)
