"""Rows of a CSV file, plain or compressed."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from cprime.sources.arrow import ARROW_ERRORS, to_rows
from cprime.sources.columns import Columns, Wanted, choose
from cprime.sources.display import quoted, reason, shown
from cprime.sources.fields import MISSING
from cprime.sources.head import Head, head_of, is_compressed
from cprime.sources.memory import in_words
from cprime.sources.row_places import Lines
from cprime.typing import Array

SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
# Of the text that is read at once; lines must not be longer.
BLOCK_BYTES = 2**20
# Rows of a compressed file take so many times its size at most, or what memory allows:
# decimals take about 2 times, small counts 15, sparse ones 100 to 3000, bombs 4000.
MOST_UNPACKED = 100
# As Arrow begins to say that there are no rows, which line has other columns than the
# first, that a line is too long, and where a value is not a number. Its handler of such
# lines (`invalid_row_handler`) is not called for those that are not UTF-8, and prints.
NO_ROWS = ("Empty CSV file", "Could not skip initial")
RAGGED = re.compile(r"CSV parse error: Row #(\d+): Expected (\d+) columns, got (\d+)")
STRADDLING = "straddling object straddles two block boundaries"
PLACE = re.compile(
    r"In CSV column #(?P<column>\d+)(?: with name '.*?')?: (?:Row #(?P<row>\d+): )?"
    r"(?P<what>.*)",
    re.DOTALL,
)


class Text(NamedTuple):
    """The columns of a CSV file that are wanted, and its rows in batches."""

    columns: Columns
    n_features: int
    batches: Iterator[Array]
    lines: Lines


def is_text(path: Path) -> bool:
    """Return whether a file's name says that it is a CSV file."""
    return path.name.lower().endswith(SUFFIXES)


def open_text(
    path: Path, columns: Wanted, memory: int, header: bool | None = None
) -> Text:
    """Look at the first lines of a CSV file, and prepare to read all of it.

    Parameters
    ----------
    path : Path
    columns : str, list of str or None
    memory : int
        Bytes that may be taken to read a part of the file.
    header : bool, optional
        Whether the first line names the columns; None decides it.
    """
    head = head_of(path, memory, header)
    places = choose(head.fields, columns, shown(path))
    has_names, decision, is_guess = head.header
    names = tuple(head.fields[i] for i in places) if has_names else None
    # Columns go by their numbers: names may be anything, and twice the same.
    wanted = [str(i) for i in places]
    convert = pc.ConvertOptions(
        column_types=dict.fromkeys(wanted, pa.float64()),
        include_columns=wanted,
        null_values=MISSING,
    )
    batches = _batches(path, head, convert)
    rows = (to_rows(batch, np.float64, shown(path)) for batch in batches)
    bounded = _bound(rows, path, memory) if is_compressed(path) else rows
    found = Columns(names, decision, is_guess)
    return Text(found, len(places), bounded, _lines(path, head))


def open_as_text(
    path: Path, columns: Wanted, memory: int, header: bool | None = None
) -> Iterator[Any]:
    """Return the rows of a CSV file in batches of columns of text, as it is there."""
    head = head_of(path, memory, header)
    places = choose(head.fields, columns, shown(path))
    wanted = [str(i) for i in places]
    convert = pc.ConvertOptions(
        column_types=dict.fromkeys(wanted, pa.string()),
        include_columns=wanted,
        strings_can_be_null=False,
    )
    names = [head.fields[i] for i in places]
    batches = _batches(path, head, convert)
    return (batch.rename_columns(names) for batch in batches)


def _bound(rows: Iterator[Array], path: Path, memory: int) -> Iterator[Array]:
    """Yield rows of a compressed file while they are not absurdly larger than it."""
    size, n_bytes = path.stat().st_size, 0
    most = max(memory, MOST_UNPACKED * size)
    for batch in rows:
        n_bytes += batch.nbytes
        if n_bytes > most:
            raise ValueError(
                f"{shown(path)} has {in_words(size)}, but its rows take more than "
                f"{in_words(most)}, over {MOST_UNPACKED} times as much: if that is "
                "meant to be, unpack it first (gunzip), or allow more `memory`."
            )
        yield batch


def _batches(path: Path, head: Head, convert: Any) -> Iterator[Any]:
    read = pc.ReadOptions(
        column_names=[str(i) for i in range(len(head.fields))],
        skip_rows=1 if head.header.has_names else 0,
        block_size=max(BLOCK_BYTES, 4 * head.n_bytes),
        use_threads=False,
    )
    parse = pc.ParseOptions(delimiter=head.delimiter, newlines_in_values=True)
    n_rows = 0
    try:
        with _stream(path) as file, pc.open_csv(file, read, parse, convert) as reader:
            for batch in reader:
                n_rows += batch.num_rows
                yield batch
    except OSError as error:
        raise ValueError(
            f"{shown(path)} is damaged {_after(path, head, n_rows)}: {reason(error)}."
        ) from None
    except ARROW_ERRORS as error:
        if not str(error).startswith(NO_ROWS):
            raise ValueError(_explain(str(error), path, head, n_rows)) from None


def _explain(error: str, path: Path, head: Head, n_rows: int) -> str:
    """Return what is wrong with a file, and where, in words."""
    lines, n_names = _lines(path, head), int(head.header.has_names)
    if ragged := RAGGED.match(error):
        number, expected, found = ragged.groups()
        line = lines.number(int(number) - 1 - n_names)
        return (
            f"Line {line} of {shown(path)} has {found} columns, not {expected} as the "
            "first one: fix it."
        )
    if error.startswith(STRADDLING):
        return (
            f"{shown(path)} is not a CSV file: {_after(path, head, n_rows)} comes a "
            "line that does not end."
        )
    place = PLACE.match(error)
    if place is None:
        after = _after(path, head, n_rows)
        return f"{shown(path)} cannot be read {after}: {reason(error)}."
    name, what = head.fields[int(place["column"])], place["what"].strip()
    value = re.search(r"invalid value '(.*)'", what, re.DOTALL)
    held = f"holds {quoted(value[1])}" if value else f"cannot be read ({reason(what)})"
    at = ""
    if place["row"]:
        at = f" in line {lines.number(int(place['row']) - 1 - n_names)}"
    is_first = at == " in line 1"
    more = ". If that line holds names, use header=True" if is_first else ""
    return (
        f"Column {quoted(name)} of {shown(path)} {held}{at}, not a number: fix it, or "
        f"leave the column out with drop={quoted(name)}{more}."
    )


def _after(path: Path, head: Head, n_rows: int) -> str:
    """Return "after line 14", the last that could be read."""
    last = _lines(path, head).number(n_rows - 1) if n_rows else 0
    return f"after line {last or int(head.header.has_names)}"


def _lines(path: Path, head: Head) -> Lines:
    return Lines(path, head.delimiter, head.header.has_names, is_compressed(path))


def _stream(path: Path) -> Any:
    """Return the text of a file as Arrow reads it by itself.

    Its threads would come back to a file of Python's, and must not when Python is gone.
    """
    file = pa.OSFile(os.fsencode(path))
    return pa.CompressedInputStream(file, "gzip") if is_compressed(path) else file
