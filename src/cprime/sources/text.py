"""Rows of a CSV file, plain or compressed."""

import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from cprime.sources.arrow import turned
from cprime.sources.columns import Wanted, chosen
from cprime.typing import Array

SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
DELIMITERS = (",", "\t", ";", "|")
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
LONGEST_LINE = 2**24
# What reading a compressed file may end in.
DAMAGED = (zlib.error, EOFError, gzip.BadGzipFile)
# As Arrow says where a value is not a number.
PLACE = re.compile(
    r"In CSV column #(?P<column>\d+)(?: with name '.*?')?: (?:Row #(?P<row>\d+): )?"
    r"(?P<what>.*)",
    re.DOTALL,
)


class Text(NamedTuple):
    """The columns of a CSV file that are wanted, and its rows in batches."""

    names: tuple[str, ...] | None
    n_features: int
    batches: Iterator[Array]


def is_text(path: Path) -> bool:
    """Return whether a file's name says that it is a CSV file."""
    return path.name.lower().endswith(SUFFIXES)


def open_text(path: Path, columns: Wanted) -> Text:
    """Look at the first line of a CSV file, and prepare to read the rest.

    A first line of nothing but numbers is a row; otherwise it names the columns.
    """
    fields, delimiter, has_names = _head(path)
    places = chosen(fields, columns, str(path))
    kept = [fields[i] for i in places]
    names = tuple(kept) if has_names else None
    batches = _batches(path, fields, kept, delimiter, has_names)
    return Text(names, len(kept), batches)


def open_as_text(path: Path, columns: Wanted) -> Iterator[Any]:
    """Return the rows of a CSV file in batches of columns of text, as it is there."""
    fields, delimiter, has_names = _head(path)
    kept = [fields[i] for i in chosen(fields, columns, str(path))]
    convert = pc.ConvertOptions(
        column_types=dict.fromkeys(kept, pa.string()),
        include_columns=kept,
        strings_can_be_null=False,
    )
    return _read(path, fields, delimiter, has_names, convert)


def _head(path: Path) -> tuple[list[str], str, bool]:
    try:
        with _opened(path) as file:
            line = file.readline(LONGEST_LINE)
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged: {error}.") from None
    if len(line) == LONGEST_LINE:
        raise ValueError(f"{path} is no CSV file: its first line does not end.")
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no CSV file in UTF-8.") from None
    if not text.strip():
        raise ValueError(f"{path} has no columns: its first line is empty.")
    delimiter = max(DELIMITERS, key=text.count)
    try:
        fields = next(csv.reader([text], delimiter=delimiter))
    except csv.Error as error:
        raise ValueError(f"{path} is no CSV file: {error}.") from None
    if all(_is_number(field) for field in fields):
        return [str(i) for i in range(len(fields))], delimiter, False
    if len(set(fields)) < len(fields):
        twice = next(name for name in fields if fields.count(name) > 1)
        raise ValueError(f"{path} has two columns named {twice!r}.")
    return fields, delimiter, True


def _batches(
    path: Path, fields: list[str], kept: list[str], delimiter: str, has_names: bool
) -> Iterator[Array]:
    convert = pc.ConvertOptions(
        column_types=dict.fromkeys(kept, pa.float64()),
        include_columns=kept,
        null_values=MISSING,
    )
    for batch in _read(path, fields, delimiter, has_names, convert):
        yield turned(batch, np.float64)


def _read(
    path: Path, fields: list[str], delimiter: str, has_names: bool, convert: Any
) -> Iterator[Any]:
    read = pc.ReadOptions(
        column_names=fields,
        skip_rows=1 if has_names else 0,
        block_size=2**22,
        use_threads=False,
    )
    parse = pc.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    n_rows = 0
    try:
        with _stream(path) as file, pc.open_csv(file, read, parse, convert) as reader:
            for batch in reader:
                n_rows += batch.num_rows
                yield batch
    except pa.ArrowInvalid as error:
        if str(error).startswith("Empty CSV file"):
            return
        raise ValueError(_said(str(error), path, fields)) from None
    except OSError as error:
        raise ValueError(f"{path} is damaged after row {n_rows}: {error}.") from None


def _said(error: str, path: Path, fields: list[str]) -> str:
    found = PLACE.search(error)
    if found is None:
        reason = error.strip().split("\n")[0].rstrip(".")
        return f"{path} cannot be read as CSV: {reason}."
    name, what = fields[int(found["column"])], found["what"].strip()
    value = re.search(r"invalid value '(.*)'", what, re.DOTALL)
    held = f"holds {value[1][:60]!r}" if value else f"cannot be read ({what})"
    line = f" in line {found['row']}" if found["row"] else ""
    return (
        f"Column {name!r} of {path} {held}{line}, not a number: mend it, or choose "
        "other columns, for instance columns='f*'."
    )


def _stream(path: Path) -> Any:
    """Return the text of a file as Arrow reads it by itself.

    Its threads would come back to a file of Python's, and must not when Python is gone.
    """
    file = pa.OSFile(str(path))
    is_zipped = path.name.lower().endswith(".gz")
    return pa.CompressedInputStream(file, "gzip") if is_zipped else file


def _opened(path: Path) -> Any:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rb")
    return path.open("rb")


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return field in MISSING
    return True
