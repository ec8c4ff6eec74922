"""How large are the parts of a Parquet file, before any of it is believed?

Stops bombs: Arrow allocates as much as a file declares, and a few hundred bytes can
declare pages of gigabytes, a megabyte a million columns. Arrow cannot be asked: it may
end the process if the file is damaged.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cprime.sources.display import shown
from cprime.sources.guards.thrift import (
    NOTHING,
    DamagedError,
    TruncatedError,
    struct_at,
)
from cprime.sources.memory import in_words, too_much
from cprime.sources.row_file import OpenFile

# Fields of the footer, of a group of rows, of a column in it, and what that declares.
GROUPS, COLUMNS, ABOUT = 4, 1, 3
N_VALUES, N_BYTES, DATA, DICTIONARY = 5, 7, 9, 11
DECLARED = dict.fromkeys((N_VALUES, N_BYTES, DATA, DICTIONARY), NOTHING)
FOOTER = {GROUPS: {COLUMNS: {ABOUT: DECLARED}}}
# Fields of a page's header.
UNPACKED, PACKED = 2, 3
PAGE = dict.fromkeys((UNPACKED, PACKED), NOTHING)
# A header is short, unless it holds statistics of long values.
HEADER_BYTES, LONGEST_HEADER = 2**8, 2**24
# What a byte of a footer may take when Arrow has read it.
TAKEN_BY_FOOTER = 64

# What is declared of a column in a group of rows.
Chunk = dict[int, int]


class ParquetSizes:
    """Sizes of a Parquet file.

    Parameters
    ----------
    path : Path
    memory : int
        Bytes that the footer may take when it is read.
    """

    def __init__(self, path: Path, memory: int):
        self._file = OpenFile.to_read(path)
        self._name = shown(path)
        self._stamp = self._file.stamp
        self._size = self._file.size
        footer = self._footer(memory)
        try:
            fields = struct_at(footer, 0, FOOTER).fields
            self._groups = [list(_chunks(group)) for group in _items(fields, GROUPS)]
        except (DamagedError, TruncatedError):
            raise self._damaged("its footer cannot be read") from None

    def are_of(self, path: Path) -> bool:
        """Return whether the file is still the one these sizes were read from."""
        return self._stamp == OpenFile.to_read(path).stamp

    def largest_pages(self, columns: list[int], n_columns: int) -> list[int]:
        """Return what the largest page of these columns takes, packed and unpacked."""
        largest, n_bytes = [0] * len(columns), 0
        for group in self._groups:
            if len(group) != n_columns:
                raise self._damaged("columns are missing in its footer")
            for i, j in enumerate(columns):
                n_bytes += max(0, group[j][N_BYTES])
                if n_bytes > self._size:
                    raise self._damaged("its columns overlap")
                largest[i] = max(largest[i], self._largest_page(group[j]))
        return largest

    def _footer(self, memory: int) -> bytes:
        tail = self._file.read(max(0, self._size - 8), 8)
        if tail[4:] != b"PAR1" or self._size < 12:
            raise self._damaged("it does not end as a Parquet file, or is encrypted")
        (length,) = struct.unpack_from("<I", tail)
        if length > self._size - 12:
            raise self._damaged("its footer is longer than itself")
        needed = length * TAKEN_BY_FOOTER
        if needed > memory:
            raise ValueError(
                f"The footer of {self._name} has {in_words(length)}, and may take "
                f"{in_words(needed)} when it is read, {too_much(needed, memory)}, or "
                "write larger groups of rows."
            )
        return self._file.read(self._size - 8 - length, length)

    def _largest_page(self, chunk: Chunk) -> int:
        if chunk[N_VALUES] == 0:
            return 0
        at, dictionary = chunk[DATA], chunk.get(DICTIONARY, 0)
        at = dictionary if 0 < dictionary < at else at
        end, largest = at + chunk[N_BYTES], 0
        if not 0 <= at <= end <= self._size:
            raise self._damaged("it ends within its columns")
        while at < end:
            sizes, length = self._page(at)
            unpacked, packed = sizes.get(UNPACKED), sizes.get(PACKED)
            if not isinstance(unpacked, int) or not isinstance(packed, int):
                raise self._damaged("a page has no size")
            at += length + packed
            if min(unpacked, packed) < 0 or at > self._size:
                raise self._damaged("it ends within a page")
            largest = max(largest, unpacked + packed)
        return largest

    def _page(self, at: int) -> tuple[dict[int, Any], int]:
        """Return sizes in the header of a page, and how long that is."""
        n_bytes = HEADER_BYTES
        while n_bytes <= LONGEST_HEADER:
            data = self._file.read(at, n_bytes)
            try:
                return struct_at(data, 0, PAGE)
            except DamagedError:
                break
            except TruncatedError:
                n_bytes = 16 * n_bytes if len(data) == n_bytes else LONGEST_HEADER + 1
        raise self._damaged("a page has no header")

    def _damaged(self, why: str) -> ValueError:
        return ValueError(f"{self._name} is damaged, or no Parquet file: {why}.")


def _items(fields: dict[int, Any], field: int) -> list[Any]:
    items = fields.get(field, [])
    if not isinstance(items, list):
        raise DamagedError
    return items


def _chunks(group: Any) -> Iterator[Chunk]:
    """Yield what is declared of every column of a group of rows."""
    for column in _items(_fields(group), COLUMNS):
        chunk = _fields(_fields(column).get(ABOUT))
        needed = (N_VALUES, N_BYTES, DATA)
        if not all(isinstance(chunk.get(field), int) for field in needed):
            raise DamagedError
        if not isinstance(chunk.get(DICTIONARY, 0), int):
            raise DamagedError
        yield chunk


def _fields(item: Any) -> dict[int, Any]:
    if not isinstance(item, dict):
        raise DamagedError
    return item
