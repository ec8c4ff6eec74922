"""What does one of our files look like, and how is one read that may be hostile?

    magic (8 bytes), format (uint32), 0 (uint32), length of the header (uint64),
    length of the file (uint64), header (JSON), arrays (raw, each at a multiple of 64),
    SHA-256 of everything before.

Numbers are little-endian. Nothing in a file can be executed. What it declares is held
against what is there before memory is taken for it. The first 32 bytes, and the name
`cprime` in the header for the version that wrote it, are the same in every format.
"""

import contextlib
import hashlib
import os
import re
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BufferedReader
from typing import Any

import numpy as np

from cprime.storage import layout
from cprime.storage.atomic import replacing
from cprime.storage.header import LONGEST, encoded, parsed
from cprime.typing import Array
from cprime.version import __version__

Path = str | os.PathLike[str]

MAGIC = b"\x89cprime\n"
FORMAT = 1
# What is said of a file that something else has written.
NOT_OURS = "it is not a cprime file"
PREFIX = struct.Struct("<8sIIQQ")
CHECKSUM = hashlib.sha256().digest_size
AT_ONCE = 2**20


@dataclass(frozen=True)
class Blocks:
    """An array that is written, or was, in consecutive parts.

    Attributes
    ----------
    shape : tuple of int
    dtype : str
        One of `layout.DTYPES`.
    parts : iterable of ndarray
        Along the first axis.
    """

    shape: tuple[int, ...]
    dtype: str
    parts: Iterable[Array]

    @classmethod
    def of(cls, array: Array) -> "Blocks":
        """Return an array as one part."""
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in layout.DTYPES:
            raise ValueError(f"arrays of {array.dtype} cannot be kept in a file")
        return cls(array.shape, dtype, [array])


def write(
    path: Path, what: str, header: dict[str, Any], arrays: Mapping[str, Array | Blocks]
) -> None:
    """Write a file that is whole or not there: see `atomic.replacing`.

    Parameters
    ----------
    path : path
    what : str
        What the user calls it, should it not be possible: "the model file".
    header : dict
        Of plain values; `cprime` and `arrays` are added.
    arrays : dict of ndarray or Blocks
    """
    blocks = {
        name: of if isinstance(of, Blocks) else Blocks.of(of)
        for name, of in arrays.items()
    }
    lines = layout.table(blocks)
    content = encoded({**header, "cprime": __version__, "arrays": lines})
    start = PREFIX.size + len(content)
    places = layout.placed(lines, start)
    length = layout.end(places, start) + CHECKSUM
    with replacing(path, what) as file:
        checksum, written = hashlib.sha256(), 0

        def put(data: Any) -> None:
            nonlocal written
            checksum.update(data)
            file.write(data)
            written += len(data)

        put(PREFIX.pack(MAGIC, FORMAT, 0, len(content), length))
        put(content)
        for name, of in blocks.items():
            put(bytes(places[name].offset - written))
            for part in of.parts:
                values = np.ascontiguousarray(part, dtype=of.dtype)
                put(values.reshape(-1).view(np.uint8))
            if written != places[name].end:
                raise ValueError(f"the parts of {name!r} are not of shape {of.shape}")
        file.write(checksum.digest())


@dataclass(frozen=True)
class Stored:
    """An array in a file that was found to be whole. It is read when asked for."""

    file: BufferedReader
    place: layout.Place

    @property
    def shape(self) -> tuple[int, ...]:
        return self.place.shape

    @property
    def dtype(self) -> str:
        return self.place.dtype

    def load(self) -> Array:
        """Return all of it."""
        return self._read(self.place.offset, self.shape)

    def parts(self, n_rows: int) -> Iterator[Array]:
        """Yield it in parts of so many entries along the first axis."""
        total, *inner = self.shape
        row_bytes = self.place.nbytes // max(total, 1)
        for first in range(0, total, n_rows):
            shape = (min(n_rows, total - first), *inner)
            yield self._read(self.place.offset + first * row_bytes, shape)

    def _read(self, offset: int, shape: tuple[int, ...]) -> Array:
        values = np.empty(shape, dtype=self.dtype)
        self.file.seek(offset)
        target = values.reshape(-1).view(np.uint8).data
        if self.file.readinto(target) != values.nbytes:
            raise ValueError("it became shorter while it was read")
        if values.dtype == bool and values.view(np.uint8).max(initial=0) > 1:
            raise ValueError("it holds booleans that are neither 0 nor 1")
        return values.astype(values.dtype.newbyteorder("="), copy=False)


@dataclass(frozen=True)
class Contents:
    """A file that was found to be whole."""

    header: dict[str, Any]
    arrays: dict[str, Stored]
    n_bytes: int


@contextlib.contextmanager
def open_file(path: Path) -> Iterator[Contents]:
    """Give the header and the arrays of a file, or say what is wrong with it.

    Every ValueError that is raised while it is open names the file.
    """
    name = os.fspath(path)
    try:
        with _plain_file(name) as file:
            yield _check(file)
    except ValueError as error:
        raise ValueError(f"Cannot read {name!r}: {error}.") from error


def _plain_file(name: str) -> BufferedReader:
    """Open a file, unless it is a folder or may never end, as a pipe or a device."""
    # Not blocking: a pipe nobody writes to would keep us waiting.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if os.path.isdir(name):
        raise ValueError("it is a folder, not a file")
    descriptor = os.open(name, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError("it is a pipe or a device, not a regular file")
    return os.fdopen(descriptor, "rb")


def _check(file: BufferedReader) -> Contents:
    n_bytes = os.fstat(file.fileno()).st_size
    if n_bytes == 0:
        raise ValueError("it is empty")
    prefix = file.read(PREFIX.size)
    if prefix[: len(MAGIC)] != MAGIC[: len(prefix)]:
        raise ValueError(NOT_OURS)
    if len(prefix) < PREFIX.size:
        raise ValueError(f"it is cut off after {n_bytes} bytes")
    _, version, zero, header_length, length = PREFIX.unpack(prefix)
    if version != FORMAT:
        raise ValueError(_other_format(file, version, header_length))
    if zero != 0 or header_length > LONGEST:
        raise ValueError("it is damaged: its first bytes are wrong")
    if n_bytes < length:
        raise ValueError(f"it is cut off: of {length} bytes it has {n_bytes}")
    if n_bytes > length or PREFIX.size + header_length + CHECKSUM > length:
        raise ValueError(f"it is damaged: it has {n_bytes} bytes, not {length}")
    header = parsed(file.read(header_length))
    start = PREFIX.size + header_length
    places = layout.placed(header.pop("arrays", None), start)
    if layout.end(places, start) + CHECKSUM != length:
        raise ValueError("it is damaged: its arrays have the wrong length")
    _refuse_altered(file, length)
    arrays = {name: Stored(file, place) for name, place in places.items()}
    return Contents(header, arrays, n_bytes)


def _other_format(file: BufferedReader, version: int, header_length: int) -> str:
    if version < FORMAT:
        return "it is damaged: there is no format 0"
    writer = "a newer cprime"
    with contextlib.suppress(ValueError):
        by = parsed(file.read(min(header_length, LONGEST))).get("cprime")
        if isinstance(by, str) and re.fullmatch(r"[\w.+-]{1,40}", by, re.ASCII):
            writer = f"cprime {by}"
    return (
        f"it is of format {version}, written by {writer}, and cprime "
        f"{__version__} knows formats up to {FORMAT}: upgrade cprime"
    )


def _refuse_altered(file: BufferedReader, length: int) -> None:
    checksum, left = hashlib.sha256(), length - CHECKSUM
    file.seek(0)
    while left > 0:
        data = file.read(min(left, AT_ONCE))
        if not data:
            raise ValueError("it became shorter while it was read")
        checksum.update(data)
        left -= len(data)
    if file.read(CHECKSUM) != checksum.digest():
        raise ValueError("it is damaged: its checksum does not match its contents")
