"""Numbers that lie row by row in a file, read and written in place.

By `pread` and `pwrite`, not by mapping: what was read once does not count as memory of
this process.
"""

import os
from typing import Any

import numpy as np

from cprime.typing import Array


class RawRows:
    """Rows of equal length in an open file.

    Parameters
    ----------
    file : binary file object
        Kept open as long as this lives.
    shape : (int, int)
    dtype : dtype
    offset : int, default=0
        Where the first row begins.
    name : str
        What a person calls it.
    """

    def __init__(
        self,
        file: Any,
        shape: tuple[int, int],
        dtype: Any,
        offset: int = 0,
        name: str = "",
    ):
        self._file = file
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._offset = offset
        self._name = name

    @property
    def row_bytes(self) -> int:
        return self.shape[1] * int(self.dtype.itemsize)

    def read_into(self, rows: Array, start: int) -> Array:
        """Fill a C-contiguous array with the rows from `start` on; return it."""
        buffer, offset = rows.data.cast("B"), self._place(start)
        done = 0
        while done < len(buffer):
            n_bytes = os.preadv(self._file.fileno(), [buffer[done:]], offset + done)
            if n_bytes == 0:
                raise ValueError(
                    f"{self._name} has become shorter while it was read: row "
                    f"{start + done // self.row_bytes} is not there any more."
                )
            done += n_bytes
        return rows

    def read(self, start: int, stop: int) -> Array:
        """Return the rows from `start` up to `stop`."""
        rows = np.empty((stop - start, self.shape[1]), dtype=self.dtype)
        return self.read_into(rows, start) if rows.size else rows

    def take(self, indices: Array) -> Array:
        """Return these rows."""
        rows = np.empty((len(indices), self.shape[1]), dtype=self.dtype)
        for place, row in enumerate(indices):
            self.read_into(rows[place], int(row))
        return rows

    def write(self, rows: Array, start: int) -> None:
        """Put rows in place, from `start` on."""
        buffer = np.ascontiguousarray(rows, dtype=self.dtype).data.cast("B")
        offset, done = self._place(start), 0
        while done < len(buffer):
            done += os.pwrite(self._file.fileno(), buffer[done:], offset + done)

    def mapped(self) -> Array:
        """Return all rows as an array whose values stay on disk."""
        return np.memmap(
            self._file, self.dtype, mode="r", offset=self._offset, shape=self.shape
        )

    def _place(self, row: int) -> int:
        return self._offset + row * self.row_bytes
