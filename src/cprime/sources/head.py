"""What do the first lines of a text file tell: its delimiter, its columns?"""

import csv
import gzip
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from cprime.sources.display import reason, shown
from cprime.sources.fields import Below
from cprime.sources.header import Header, are_names, as_given, decide
from cprime.sources.memory import in_words, too_much

DELIMITERS = (",", "\t", ";", "|")
LONGEST_LINE = 2**24
# What reading takes for every column there is.
BYTES_OF_A_COLUMN = 2**13
# What is looked at below the first line: so many rows, of so many bytes.
ROWS_LOOKED_AT, BYTES_LOOKED_AT = 100, 2**18
# What reading a compressed file may end in.
DAMAGED = (zlib.error, EOFError, OSError)


class Head(NamedTuple):
    """What the first lines of a file tell.

    Attributes
    ----------
    fields : list of str
        What the columns are called: their names, or "0", "1", ...
    delimiter : str
    header : Header
    n_bytes : int
        Of the first line.
    """

    fields: list[str]
    delimiter: str
    header: Header
    n_bytes: int


def is_compressed(path: Path) -> bool:
    """Return whether a file's name says that it is compressed."""
    return path.name.lower().endswith(".gz")


def head_of(path: Path, memory: int, header: bool | None) -> Head:
    """Look at the first lines of a file.

    Parameters
    ----------
    path : Path
    memory : int
        Bytes that may be taken to read a part of the file.
    header : bool or None
        Whether the first line names the columns; None decides it.
    """
    name = shown(path)
    try:
        with gzip.open(path, "rb") if is_compressed(path) else path.open("rb") as file:
            line = file.readline(LONGEST_LINE)
            text = _text(line, name)
            delimiter = max(DELIMITERS, key=text.count)
            fields = _fields(text, delimiter, name, memory)
            if header is not None:
                found = as_given(header, name)
            else:
                below = Below(fields)
                if not are_names(fields):
                    _look_below(below, file, delimiter, len(line))
                are_quoted = _are_quoted(text, delimiter, len(fields))
                found = decide(fields, are_quoted, below, name)
    except DAMAGED as error:
        raise ValueError(f"{name} is damaged: {reason(error)}.") from None
    called = fields if found.has_names else [str(i) for i in range(len(fields))]
    return Head(called, delimiter, found, len(line))


def _text(line: bytes, name: str) -> str:
    if len(line) == LONGEST_LINE:
        raise ValueError(f"{name} is not a CSV file: its first line does not end.")
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValueError(
            f"{name} is not a CSV file in UTF-8: its first line holds other bytes."
        ) from None
    if not text.strip():
        raise ValueError(f"{name} has no columns: its first line is empty.")
    return text


def _fields(text: str, delimiter: str, name: str, memory: int) -> list[str]:
    try:
        fields = next(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise ValueError(
            f"{name} cannot be read as CSV: its first line cannot be divided into "
            f"columns ({reason(error)})."
        ) from None
    needed = len(fields) * BYTES_OF_A_COLUMN
    if needed > memory:
        raise ValueError(
            f"{name} has {len(fields)} columns: to read as many from text takes "
            f"{in_words(needed)}, {too_much(needed, memory)}, or write it as .npy."
        )
    return fields


def _look_below(below: Below, file: Any, delimiter: str, n_bytes: int) -> None:
    """Take note of the rows that come next in a file, after a line of so many bytes."""
    raw: list[str] = []
    # Long enough for some lines, if they are like the first.
    left = max(BYTES_LOOKED_AT, min(4 * n_bytes, LONGEST_LINE))

    def lines() -> Iterator[str]:
        nonlocal left
        while line := file.readline(left):
            left -= len(line)
            if left == 0:
                # It may go on.
                return
            raw.append(line.decode("utf-8", errors="replace"))
            yield raw[-1]

    rows = csv.reader(lines(), delimiter=delimiter, strict=True)
    try:
        for row in islice(rows, ROWS_LOOKED_AT):
            # Lines that are empty, or too short or long, are left to the reader.
            if len(row) == len(below.columns):
                below.add(row, _are_quoted("".join(raw), delimiter, len(row)))
            raw.clear()
    except csv.Error:
        # What is wrong there is found when it is read.
        return


def _are_quoted(text: str, delimiter: str, n_fields: int) -> list[bool]:
    """Return which fields of a line stand in quotation marks."""
    parts = text.split(delimiter)
    if len(parts) != n_fields:
        # A delimiter is within a field: all may be quoted.
        return ['"' in text] * n_fields
    return [part.startswith('"') for part in parts]
