"""Numbers that lie row by row in a file, read and written in place.

By `pread` and `pwrite`, not by mapping: what was read once does not count as memory of
this process. Windows has neither: there, threads take turns with the one position.
"""

import mmap
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from cprime.typing import Array

# Linux begins to read no more than some hundred kB each time it is asked to.
EXPECTED_BYTES = 2**17
# Read and copied at once where files cannot be read into an array.
COPIED_BYTES = 2**20
# Of a file: its length, when its content was changed, and when anything of it was.
Stamp = tuple[int, int, int]


class OpenFile:
    """A file that is closed when nobody needs it any more.

    Parameters
    ----------
    descriptor : int
        Of the open file; it is taken over.
    """

    def __init__(self, descriptor: int):
        self.descriptor = descriptor
        self._turn = Lock()
        weakref.finalize(self, os.close, descriptor)

    @classmethod
    def to_read(cls, path: Path) -> "OpenFile":
        """Open a file for reading."""
        # Windows changes ends of lines in what is not opened as binary.
        return cls(os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))

    @property
    def size(self) -> int:
        return os.fstat(self.descriptor).st_size

    @property
    def stamp(self) -> Stamp:
        """How long the file is, and when it was changed."""
        state = os.fstat(self.descriptor)
        # The first of the two times may be set at will, as rsync and touch do.
        return state.st_size, state.st_mtime_ns, state.st_ctime_ns

    def read(self, offset: int, n_bytes: int) -> bytes:
        """Return some bytes, fewer if the file ends before."""
        if hasattr(os, "pread"):
            return os.pread(self.descriptor, n_bytes, offset)
        with self._position_at(offset):
            return os.read(self.descriptor, n_bytes)

    def read_into(self, buffer: memoryview, offset: int) -> int:
        """Fill a buffer, or its beginning; return how many bytes were read."""
        if hasattr(os, "preadv"):
            return os.preadv(self.descriptor, [buffer], offset)
        found = self.read(offset, min(len(buffer), COPIED_BYTES))
        buffer[: len(found)] = found
        return len(found)

    def write(self, buffer: memoryview, offset: int) -> int:
        """Write a buffer, or its beginning; return how many bytes were written."""
        if hasattr(os, "pwrite"):
            return os.pwrite(self.descriptor, buffer, offset)
        with self._position_at(offset):
            return os.write(self.descriptor, buffer)

    @contextmanager
    def _position_at(self, offset: int) -> Iterator[None]:
        with self._turn:
            os.lseek(self.descriptor, offset, os.SEEK_SET)
            yield


class RowFile:
    """Rows of equal length in an open file.

    Parameters
    ----------
    file : OpenFile
    shape : (int, int)
    dtype : dtype
    offset : int, default=0
        Where the first row begins.
    name : str
        What the user calls it.
    stamp : (int, int, int), optional
        Of the file, if it is not ours: whoever changes it makes reading it an error.
    """

    def __init__(
        self,
        file: OpenFile,
        shape: tuple[int, int],
        dtype: Any,
        offset: int = 0,
        name: str = "",
        stamp: Stamp | None = None,
    ):
        self._file = file
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._offset = offset
        self._name = name
        self._stamp = stamp

    @property
    def row_bytes(self) -> int:
        return self.shape[1] * int(self.dtype.itemsize)

    def read_into(self, rows: Array, start: int) -> Array:
        """Fill a C-contiguous array with the rows from `start` on; return it."""
        buffer, offset = rows.data.cast("B"), self._place(start)
        done = 0
        while done < len(buffer):
            try:
                n_bytes = self._file.read_into(buffer[done:], offset + done)
            except OSError as error:
                raise OSError(
                    f"{self._name} cannot be read at row {start}: {error.strerror}."
                ) from None
            if n_bytes == 0:
                raise ValueError(
                    f"{self._name} has become shorter while it was read: row "
                    f"{start + done // self.row_bytes} is no longer there."
                )
            done += n_bytes
        if self._stamp not in (None, self._file.stamp):
            raise ValueError(
                f"{self._name} has changed since it was opened: start again when no "
                "other program changes, moves or deletes it."
            )
        return rows

    def expect(self, start: int, n_rows: int) -> None:
        """Let the system read some rows, as far as there are any, that come soon."""
        if hasattr(os, "posix_fadvise"):
            stop = self._place(min(start + n_rows, self.shape[0]))
            for offset in range(self._place(start), stop, EXPECTED_BYTES):
                os.posix_fadvise(
                    self._file.descriptor,
                    offset,
                    EXPECTED_BYTES,
                    os.POSIX_FADV_WILLNEED,
                )

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
            try:
                done += self._file.write(buffer[done:], offset + done)
            except OSError as error:
                raise OSError(
                    f"{self._name} does not take more rows ({error.strerror}): give a "
                    "folder with more room as `scratch`, or more `memory`."
                ) from None

    def mapped(self) -> Array:
        """Return all rows as an array whose values stay on disk."""
        size = self._place(self.shape[0])
        # Whoever changes a value changes their own copy of it.
        whole = mmap.mmap(self._file.descriptor, size, access=mmap.ACCESS_COPY)
        values: Array = np.frombuffer(whole, self.dtype, offset=self._offset)
        return values.reshape(self.shape)

    def _place(self, row: int) -> int:
        return self._offset + row * self.row_bytes
