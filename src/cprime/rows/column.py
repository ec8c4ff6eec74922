"""What there is for every row of a file, in memory or on disk."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cprime.blocks import Hints, Kept
from cprime.sources.row_file import RowFile
from cprime.sources.scratch import scratch_rows
from cprime.typing import Array

# Bytes that are looked at together.
PART_BYTES = 2**22


class Column:
    """Some numbers for every row, filled part by part.

    Parameters
    ----------
    shape : (int, int)
        Rows, and numbers for each of them.
    dtype : dtype
    memory : int
        Bytes. What takes more is kept in a temporary file.
    folder : Path
        Where to put that.
    """

    def __init__(self, shape: tuple[int, int], dtype: Any, memory: int, folder: Path):
        self.shape = shape
        self.dtype = dtype
        self._memory = memory
        self._folder = folder
        self._values: Array | RowFile
        if shape[0] * shape[1] * np.dtype(dtype).itemsize <= memory:
            self._values = np.empty(shape, dtype=dtype)
        else:
            self._values = scratch_rows(folder, shape, dtype, "Clusters of rows")

    @property
    def width(self) -> int:
        return self.shape[1]

    def parts(self) -> Iterator[tuple[int, Array]]:
        """Yield the first row of every part, and the numbers of its rows."""
        n_rows = self.shape[0]
        size = max(1, PART_BYTES // max(1, self.width * np.dtype(self.dtype).itemsize))
        for start in range(0, n_rows, size):
            yield start, self.read(slice(start, min(start + size, n_rows)))

    def like(self, width: int) -> "Column":
        """Return an empty column of so many such numbers for each of the same rows."""
        return Column((self.shape[0], width), self.dtype, self._memory, self._folder)

    def put(self, values: Array, start: int) -> None:
        """Put the numbers of some rows in place, from `start` on."""
        if isinstance(self._values, RowFile):
            self._values.write(values, start)
        else:
            self._values[start : start + len(values)] = values

    def read(self, rows: slice) -> Array:
        """Return the numbers of consecutive rows."""
        if isinstance(self._values, RowFile):
            return self._values.read(rows.start, rows.stop)
        return self._values[rows]

    def take(self, indices: Array) -> Array:
        """Return the numbers of these rows."""
        if isinstance(self._values, RowFile):
            return self._values.take(indices)
        return self._values[indices]

    def array(self) -> Array:
        """Return all of it as one array, whose values may be on disk."""
        if isinstance(self._values, RowFile):
            return self._values.mapped()
        return self._values


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

    def of_block(self, place: slice) -> Kept:
        """Return what the rows of one block keep."""
        hints = self.hints.get((place.start, place.stop))
        return Kept(self.clusters.read(place), hints, self.changed)

    def has_room(self, place: slice) -> bool:
        """Return whether hints of this block are kept, if there are any."""
        return not self.full or (place.start, place.stop) in self.hints

    @property
    def shape(self) -> tuple[int, int]:
        return self.clusters.shape

    def parts(self) -> Iterator[Array]:
        """Yield the clusters of consecutive rows, from the first to the last."""
        for _, part in self.clusters.parts():
            yield part

    def part(self, indices: Array) -> Kept:
        """Return what these rows keep."""
        return Kept(self.clusters.take(indices))

    def array(self) -> Array:
        """Return the clusters of all rows, which may be on disk."""
        return self.clusters.array()

    def labels(self) -> Array | None:
        """Return each row's closest cluster, unless K does not hold it (C' = C)."""
        if self.clusters.width == 0:
            return None
        if self.clusters.width == 1:
            return self.clusters.array()[:, 0]
        labels = self.clusters.like(1)
        for start, part in self.clusters.parts():
            labels.put(part[:, :1], start)
        return labels.array()[:, 0]

    def reassigned(self, indices: Array, cluster: int) -> "KeptInBlocks":
        """Return the same with these rows, of one cluster each, moved to `cluster`."""
        moved = self.clusters.like(self.clusters.width)
        for start, part in self.clusters.parts():
            K = part.copy()
            inside = (indices >= start) & (indices < start + len(K))
            K[indices[inside] - start] = cluster
            moved.put(K, start)
        return KeptInBlocks(moved)
