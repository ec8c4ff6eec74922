"""Where do results go, and how is a file never half of one?"""

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import typer

from cprime.cli.console import Voice

STANDARD_OUTPUT = Path("-")
TABLES = (".parquet", ".csv", ".npy")
PAGES = (".html", ".htm")

# Writes one block: an Arrow table.
Write = Callable[[Any], None]


def check_table(path: Path) -> None:
    """Refuse a name that does not say which kind of table it is."""
    if path != STANDARD_OUTPUT and path.suffix.lower() not in TABLES:
        raise typer.BadParameter(
            f"{_suffix_message(path, TABLES)}, or be - for CSV on standard output",
            param_hint="-o",
        )


def check_name(path: Path | None, option: str, kinds: Sequence[str] = ()) -> None:
    """Refuse a name that is not of a file, or of a file of another kind.

    Parameters
    ----------
    path : path or None
    option : str
        What it was given as.
    kinds : sequence of str, optional
        How it may end.
    """
    if path == STANDARD_OUTPUT:
        raise typer.BadParameter(
            "this cannot be written to standard output; name a file",
            param_hint=option,
        )
    if path is not None and kinds and path.suffix.lower() not in kinds:
        raise typer.BadParameter(_suffix_message(path, kinds), param_hint=option)


def _suffix_message(path: Path, kinds: Sequence[str]) -> str:
    return f"{str(path)!r} should end in {', '.join(kinds[:-1])} or {kinds[-1]}"


def voice_beside(path: Path, json: bool, quiet: bool) -> Voice:
    """Return how a command speaks that writes a table to a file, or to where it speaks.

    A table on standard output must not be mixed with anything else.
    """
    if path != STANDARD_OUTPUT:
        return Voice(json, quiet)
    if json:
        raise typer.BadParameter(
            "the table goes to standard output already; write it to a file",
            param_hint="--json",
        )
    return Voice(quiet=True)


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name for a column of ours that is none of the user's."""
    while name in taken:
        name = f"cprime_{name}"
    return name


@contextmanager
def table_file(path: Path, n_rows: int) -> Iterator[Write]:
    """Give what writes tables of the same columns, one below another, to one file.

    Only when all are written does it take its name.

    Parameters
    ----------
    path : path
        Its end says of which kind; standard output gets CSV.
    n_rows : int
        Of all blocks together.
    """
    from cprime.storage.atomic import replacing

    if path == STANDARD_OUTPUT:
        if sys.stdout is None:
            raise ValueError("Standard output is closed: write to a file.")
        with _csv(sys.stdout.buffer) as write:
            yield write
        sys.stdout.buffer.flush()
        return
    kinds = {".parquet": _parquet, ".csv": _csv}
    with replacing(path, "the table") as file:
        if path.suffix.lower() == ".npy":
            with _npy(file, n_rows) as write:
                yield write
        else:
            with kinds[path.suffix.lower()](file) as write:
                yield write


@contextmanager
def _parquet(file: BinaryIO) -> Iterator[Write]:
    import pyarrow.parquet as pq

    writer: Any = None

    def write(table: Any) -> None:
        nonlocal writer
        if writer is None:
            writer = pq.ParquetWriter(file, table.schema)
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


@contextmanager
def _csv(file: BinaryIO) -> Iterator[Write]:
    import csv
    import io

    begun = False

    def write(table: Any) -> None:
        nonlocal begun
        if not begun:
            # Arrow would put every name in quotation marks.
            head = io.StringIO()
            csv.writer(head, lineterminator="\n").writerow(table.schema.names)
            file.write(head.getvalue().encode())
            begun = True
        file.write(_lines(table))

    yield write


def _lines(table: Any) -> Any:
    """Return lines of CSV; text is in quotation marks only if some of it needs it."""
    import pyarrow as pa
    import pyarrow.csv as pc

    for style in ("none", "needed"):
        lines = pa.BufferOutputStream()
        options = pc.WriteOptions(include_header=False, quoting_style=style)
        try:
            pc.write_csv(table, lines, options)
            break
        except pa.ArrowInvalid:
            if style == "needed":
                raise
    return lines.getvalue()


def _refuse_names(names: Sequence[str]) -> None:
    """Raise if columns are called what those of a .npy file cannot be."""
    for name in names:
        if not name or not name.isascii():
            raise ValueError(
                f"A .npy file cannot hold a column named {name!r:.60} beside others of "
                "another type: write .parquet or .csv."
            )


@contextmanager
def _npy(file: BinaryIO, n_rows: int) -> Iterator[Write]:
    import numpy as np

    begun = False

    def write(table: Any) -> None:
        nonlocal begun
        columns = [np.asarray(column) for column in table.columns]
        kinds = {column.dtype for column in columns}
        if not kinds <= {
            np.dtype(np.float32),
            np.dtype(np.float64),
            np.dtype(np.int32),
        }:
            raise ValueError(
                ".npy files hold numbers only: to keep other columns write .parquet or "
                ".csv."
            )
        if len(kinds) == 1:
            # Columns of one kind are a plain array: rows and columns.
            block = np.stack(columns, axis=1)
            shape: tuple[int, ...] = (n_rows, len(columns))
        else:
            _refuse_names(table.schema.names)
            named = list(zip(table.schema.names, (c.dtype for c in columns)))
            block = np.empty(len(table), dtype=named)
            for name, column in zip(table.schema.names, columns):
                block[name] = column
            shape = (n_rows,)
        if not begun:
            descr = np.lib.format.dtype_to_descr(block.dtype)
            header = {"descr": descr, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_2_0(file, header)
            begun = True
        file.write(block.tobytes())

    yield write
