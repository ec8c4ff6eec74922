"""Rows of Parquet and Arrow files, one or many, and of Arrow's own objects."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from cprime.typing import Array

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
BATCH_ROWS = 2**15
# Rows are turned from columns a few at a time, so that they stay in cache.
TURNED_ROWS = 2**11


class Batches(NamedTuple):
    """Columns, and what yields batches of some of them."""

    schema: pa.Schema
    of: Callable[[list[str]], Iterator[pa.RecordBatch]]


def files_of(path: Path) -> list[Path]:
    """Return a file, or all files of a folder in the order of their names."""
    if path.is_file():
        if path.suffix.lower() not in PARQUET + ARROW:
            raise ValueError(
                f"{path} is of a kind that is not known here: use .npy, .parquet, "
                ".arrow, .feather, .csv or .tsv (also .gz)."
            )
        return [path]
    inside = (file for file in path.rglob("*") if not _is_hidden(file, path))
    files = sorted(
        f for f in inside if f.suffix.lower() in PARQUET + ARROW and f.is_file()
    )
    if not files:
        raise ValueError(f"The folder {path} holds no .parquet or .arrow files.")
    return files


def from_files(files: list[Path]) -> Batches:
    """Return the rows of Parquet or Arrow files, one file after another."""
    opened = [_open_file(file) for file in files]
    first = opened[0].schema
    for file, other in zip(files[1:], opened[1:]):
        if other.schema.names != first.names:
            raise ValueError(
                f"{file} has other columns than {files[0]}: files of one folder must "
                "have the same."
            )

    def of(names: list[str]) -> Iterator[pa.RecordBatch]:
        for file, one in zip(files, opened):
            with _said_of(file):
                yield from one.of(names)

    return Batches(first, of)


def from_object(source: Any) -> Batches:
    """Return the rows of an Arrow dataset, table, record batch or reader's table."""
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return Batches(
            source.schema,
            lambda names: iter(source.select(names).to_batches(BATCH_ROWS)),
        )

    def of(names: list[str]) -> Iterator[pa.RecordBatch]:
        scanner = source.scanner(
            columns=names,
            batch_size=BATCH_ROWS,
            batch_readahead=2,
            fragment_readahead=1,
        )
        yield from scanner.to_batches()

    return Batches(source.schema, of)


def is_arrow_object(X: Any) -> bool:
    """Return whether X is one of Arrow's own collections of columns."""
    return isinstance(X, ds.Dataset | pa.Table | pa.RecordBatch)


def dtype_of(schema: pa.Schema, names: list[str], origin: str) -> Any:
    """Return what numbers of these columns are read as, or name one that holds none."""
    types = [schema.field(name).type for name in names]
    for name, kind in zip(names, types):
        if not _is_number(kind):
            raise ValueError(
                f"Column {name!r} of {origin} holds {_in_words(kind)}, not numbers: "
                "choose columns that do, for instance columns='f*'."
            )
    narrow = all(pa.types.is_float32(kind) for kind in types)
    return np.dtype(np.float32 if narrow else np.float64)


def turned(batch: pa.RecordBatch, dtype: Any) -> Array:
    """Return the rows of a batch of columns; what is null becomes NaN."""
    rows = np.empty((batch.num_rows, batch.num_columns), dtype=dtype)
    columns = [_values(column) for column in batch.columns]
    for start in range(0, len(rows), TURNED_ROWS):
        part = slice(start, start + TURNED_ROWS)
        for j, values in enumerate(columns):
            rows[part, j] = values[part]
    return rows


def _values(column: pa.Array) -> Array:
    if pa.types.is_decimal(column.type) or pa.types.is_boolean(column.type):
        column = column.cast(
            pa.float64() if pa.types.is_decimal(column.type) else pa.uint8()
        )
    values: Array = column.to_numpy(zero_copy_only=False)
    return values


def _open_file(file: Path) -> Batches:
    with _said_of(file):
        if file.suffix.lower() in PARQUET:
            parquet = pq.ParquetFile(file, memory_map=False, pre_buffer=False)
            return Batches(
                parquet.schema_arrow,
                lambda names: parquet.iter_batches(BATCH_ROWS, columns=names),
            )
        reader = ipc.open_file(pa.OSFile(str(file)))
        return Batches(reader.schema, lambda names: _of_ipc(reader, names))


def _of_ipc(reader: Any, names: list[str]) -> Iterator[pa.RecordBatch]:
    for i in range(reader.num_record_batches):
        yield reader.get_batch(i).select(names)


@contextmanager
def _said_of(file: Path) -> Iterator[None]:
    """Turn what Arrow says of a file it cannot read into one line for people."""
    try:
        yield
    except (FileNotFoundError, PermissionError):
        raise
    except (pa.ArrowException, OSError) as error:
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise ValueError(
            f"{file} is damaged or no {file.suffix} file: {reason}."
        ) from None


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part[0] in "._" for part in file.relative_to(folder).parts)


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(is_of(kind) for is_of in numbers)


def _in_words(kind: pa.DataType) -> str:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    return f"values of type {kind}"
