"""What there is for every row of a file, in memory or on disk."""

from pathlib import Path
from typing import Any

import numpy as np

from cprime.sources.row_file import RowFile
from cprime.sources.scratch import scratch_rows
from cprime.typing import Array


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
        self._values: Array | RowFile
        if shape[0] * shape[1] * np.dtype(dtype).itemsize <= memory:
            self._values = np.empty(shape, dtype=dtype)
        else:
            self._values = scratch_rows(folder, shape, dtype, "Clusters of rows")

    @property
    def width(self) -> int:
        return self.shape[1]

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
