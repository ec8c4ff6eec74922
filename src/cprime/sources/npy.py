"""Rows of a .npy file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format

from cprime.sources.raw import OpenFile, RawRows
from cprime.typing import Array

READERS = {
    (1, 0): npy_format.read_array_header_1_0,
    (2, 0): npy_format.read_array_header_2_0,
}
HEAD_ERRORS = (
    ValueError,
    TypeError,
    OverflowError,
    MemoryError,
    RecursionError,
    SyntaxError,
)
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

    def rows(self) -> RawRows:
        """Return the rows of a file that is ready."""
        return RawRows(self.file, self.shape, self.dtype, self.offset, self.name)

    def batches(self, columns: list[int]) -> Iterator[Array]:
        """Yield these columns of all rows, some rows at a time."""
        N, D = self.shape
        at_once = max(1, BATCH_VALUES // D)
        for start in range(0, N, at_once):
            stop = min(start + at_once, N)
            if self.by_columns:
                yield np.stack([self._part(j, start, stop) for j in columns], axis=1)
            else:
                yield self.rows().read(start, stop)[:, columns]

    def _part(self, column: int, start: int, stop: int) -> Array:
        offset = self.offset + column * self.shape[0] * self.dtype.itemsize
        whole = RawRows(self.file, (self.shape[0], 1), self.dtype, offset, self.name)
        return whole.read(start, stop)[:, 0]


def open_npy(path: Path) -> Npy:
    """Read the head of a .npy file, and refuse what its size does not bear out."""
    file = OpenFile.to_read(path)
    with open(file.descriptor, "rb", closefd=False) as head:
        try:
            version = npy_format.read_magic(head)
            if version not in READERS:
                raise ValueError(f"format version {version} is not known here")
            shape, by_columns, dtype = READERS[version](head)
        except HEAD_ERRORS as error:
            reason = str(error).split("\n")[0].rstrip(".")
            raise ValueError(
                f"{path} is not a .npy file that can be read: {reason}."
            ) from None
        offset = head.tell()
    _refuse(path, shape, dtype)
    N, D = shape if len(shape) == 2 else (*shape, 1)
    needed, held = N * D * dtype.itemsize, file.size - offset
    if needed > held:
        raise ValueError(
            f"{path} is damaged: it declares {N} rows of {D} columns, {needed} bytes, "
            f"but holds {held}."
        )
    return Npy(file, (N, D), dtype, by_columns, offset, str(path))


def _refuse(path: Path, shape: tuple[int, ...], dtype: Any) -> None:
    if dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise ValueError(
            f"{path} holds values of type {dtype}, not numbers that can be clustered: "
            "save it as float32 or float64."
        )
    if len(shape) not in (1, 2) or not all(0 <= length < 2**62 for length in shape):
        raise ValueError(
            f"{path} holds an array of shape {shape}, not rows and columns, (N, D)."
        )
