"""Rows of a .npy file."""

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cprime.sources.display import quoted, shown
from cprime.sources.row_file import OpenFile, RowFile
from cprime.typing import Array

MAGIC = b"\x93NUMPY"
# How the length of the head is written, by format version.
LENGTHS = {b"\1\0": "<H", b"\2\0": "<I", b"\3\0": "<I"}
LONGEST_HEAD = 10_000
# The head is a Python dictionary; nothing of it is ever evaluated. numpy's own readers
# take the last of two shapes, know no version 3, and raise MemoryError of many signs.
WHOLE = re.compile(r"\s*\{[^*+]*\}\s*")
TYPE = re.compile(r"""['"]descr['"]\s*:\s*(?:'([^']*)'|"([^"]*)"|[\[({])""")
ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)""")
SHAPE = re.compile(r"""['"]shape['"]\s*:\s*\(([-\d\sL,]*)\)""")
NUMBERS = re.compile(r"[<>=|]?(?:[fiu][1248]|b1|\?|[fd])")
# More columns than that cannot be clustered.
MOST_COLUMNS = 2**20
# Values of a batch, when rows have to be converted.
BATCH_VALUES = 2**20


class Npy(NamedTuple):
    """What the head of a .npy file declares, which its size bears out.

    Attributes
    ----------
    file : OpenFile
    shape : (int, int)
    dtype : dtype
    by_columns : bool
        Whether values lie column by column (Fortran order).
    offset : int
    name : str
    """

    file: OpenFile
    shape: tuple[int, int]
    dtype: Any
    by_columns: bool
    offset: int
    name: str

    @property
    def is_ready(self) -> bool:
        """Whether rows lie in the file as they are computed with."""
        ordered = not self.by_columns or self.shape[1] == 1
        return ordered and self.dtype in (np.dtype("<f4"), np.dtype("<f8"))

    def rows(self) -> RowFile:
        """Return the rows of a file that is ready."""
        return self._part(self.shape, self.offset)

    def batches(self, columns: list[int]) -> Iterator[Array]:
        """Yield these columns of all rows, some rows at a time."""
        N, D = self.shape
        at_once = max(1, BATCH_VALUES // D)
        for start in range(0, N, at_once):
            stop = min(start + at_once, N)
            if self.by_columns:
                yield np.hstack([self._column(j).read(start, stop) for j in columns])
            else:
                yield self.rows().read(start, stop)[:, columns]

    def _column(self, j: int) -> RowFile:
        N = self.shape[0]
        return self._part((N, 1), self.offset + j * N * self.dtype.itemsize)

    def _part(self, shape: tuple[int, int], offset: int) -> RowFile:
        return RowFile(self.file, shape, self.dtype, offset, self.name, self.file.stamp)


def open_npy(path: Path) -> Npy:
    """Read the head of a .npy file, and refuse what its size does not bear out."""
    file, name = OpenFile.to_read(path), shown(path)
    head, offset = _head(file, name)
    if not WHOLE.fullmatch(head):
        raise _unreadable(name, "its head is not one")
    dtype, shape = _dtype(head, name), _shape(head, name)
    order = ORDER.findall(head)
    if len(order) != 1:
        raise _unreadable(name, "its head has no 'fortran_order'")
    N, D = shape
    needed, held = N * D * dtype.itemsize, file.size - offset
    if needed > held:
        raise ValueError(
            f"{name} is damaged: it declares {N} rows of {D} columns, {needed} bytes, "
            f"but holds {held}."
        )
    return Npy(file, shape, dtype, order[0] == "True", offset, name)


def _head(file: OpenFile, name: str) -> tuple[str, int]:
    """Return the text of the head, and where values begin."""
    start = file.read(0, len(MAGIC) + 6)
    if start[: len(MAGIC)] != MAGIC:
        raise _unreadable(name, "it does not begin as one")
    kind = LENGTHS.get(start[6:8])
    if kind is None:
        raise _unreadable(name, f"format version {list(start[6:8])} is not supported")
    offset = 8 + struct.calcsize(kind)
    if len(start) < offset:
        raise _unreadable(name, "it ends within its head")
    (length,) = struct.unpack_from(kind, start, 8)
    if length > LONGEST_HEAD:
        raise _unreadable(name, f"a head of {length} bytes is too long")
    head = file.read(offset, length)
    if len(head) < length:
        raise _unreadable(name, "it ends within its head")
    return head.decode("latin1"), offset + length


def _dtype(head: str, name: str) -> Any:
    found = TYPE.findall(head)
    if len(found) != 1:
        raise _unreadable(name, "its head has no 'descr', the type of its values")
    kind = "".join(found[0])
    if not NUMBERS.fullmatch(kind):
        held = f"values of type {quoted(kind)}" if kind else "records"
        raise ValueError(
            f"{name} holds {held}, not numbers that can be clustered: save it as "
            "float32 or float64."
        )
    return np.dtype(kind)


def _shape(head: str, name: str) -> tuple[int, int]:
    found = SHAPE.findall(head)
    if len(found) != 1:
        raise _unreadable(name, "its head has no 'shape'")
    lengths = re.findall(r"-?\d+", found[0])
    sensible = all(re.fullmatch(r"\d{1,18}", length) for length in lengths)
    if len(lengths) not in (1, 2) or not sensible:
        raise ValueError(
            f"{name} holds an array of shape ({found[0][:60]}), not rows and columns, "
            "(N, D)."
        )
    N, D = int(lengths[0]), int(lengths[1]) if len(lengths) == 2 else 1
    if N == 0 or D == 0:
        raise ValueError(f"{name} has no {'columns' if N else 'rows'}.")
    if D > MOST_COLUMNS:
        raise ValueError(
            f"{name} has {D} columns, more than can be clustered ({MOST_COLUMNS})."
        )
    return N, D


def _unreadable(name: str, why: str) -> ValueError:
    return ValueError(f"{name} is not a .npy file that can be read: {why}.")
