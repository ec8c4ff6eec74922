"""Rows of Arrow's columns: which are numbers, and how columns become rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from cprime.sources.display import LONGEST_NAME, quoted, reason
from cprime.sources.guards.parquet_sizes import ParquetSizes
from cprime.typing import Array

# What is read, and transposed, at once.
BATCH_ROWS, BATCH_VALUES = 2**15, 2**20
# Columns become rows a few at a time, so that they stay in cache.
TRANSPOSED_ROWS = 2**11
# What Arrow may raise of data that are not as they should be.
ARROW_ERRORS = (pa.ArrowException, OSError, UnicodeError, MemoryError, OverflowError)


class Batches(NamedTuple):
    """Columns, and what yields batches of some of them.

    Attributes
    ----------
    names : list of str
        Of all columns.
    parts : list of (str, Schema)
        What there is, one after another: what it is called, and the same columns.
    of : callable
        Takes names of columns and yields batches of them, in that order.
    n_rows : int, optional
        How many there are, where that is known.
    """

    names: list[str]
    parts: list[tuple[str, pa.Schema]]
    of: Callable[[list[str]], Iterator[pa.RecordBatch]]
    n_rows: int | None = None

    def dtype(self, places: list[int]) -> Any:
        """Return what numbers of these columns are read as, or say which are none."""
        return np.result_type(
            *(dtype_of(schema, places, origin) for origin, schema in self.parts)
        )


class Head(NamedTuple):
    """What a file says of itself: its columns, how many rows and of what sizes."""

    names: list[str]
    schema: pa.Schema
    n_rows: int | None
    sizes: ParquetSizes | None

    @classmethod
    def of(
        cls,
        schema: pa.Schema,
        n_rows: int | None = None,
        sizes: ParquetSizes | None = None,
    ) -> "Head":
        """Return the head of a file; its names are decoded here, which may fail."""
        return cls(schema.names, schema, n_rows, sizes)


def from_object(source: Any, origin: str) -> Batches:
    """Return the rows of an Arrow dataset, table or record batch."""
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    parts = [(origin, source.schema)]
    if isinstance(source, pa.Table):
        return Batches(
            source.schema.names,
            parts,
            lambda names: iter(source.select(names).to_batches(batch_rows(len(names)))),
            source.num_rows,
        )

    def of(names: list[str]) -> Iterator[pa.RecordBatch]:
        with explain_errors(origin):
            scanner = source.scanner(
                columns=names,
                batch_size=batch_rows(len(names)),
                batch_readahead=2,
                fragment_readahead=1,
            )
            yield from scanner.to_batches()

    return Batches(source.schema.names, parts, of)


def is_arrow_object(X: Any) -> bool:
    """Return whether X is one of Arrow's own collections of columns."""
    return isinstance(X, ds.Dataset | pa.Table | pa.RecordBatch)


def batch_rows(n_features: int) -> int:
    """Return how many rows of so many columns are read at once."""
    return max(1, min(BATCH_ROWS, BATCH_VALUES // n_features))


def dtype_of(schema: pa.Schema, places: list[int], origin: str) -> Any:
    """Return what numbers of these columns are read as, or name one that holds none."""
    fields = [schema.field(i) for i in places]
    others = [field for field in fields if not _is_number(field.type)]
    if others:
        drop = ",".join(field.name for field in others)
        remedy = f"leave it out with drop={quoted(drop)}"
        if len(drop) > LONGEST_NAME:
            remedy = "choose columns that do, for instance columns='f*'"
        raise ValueError(
            f"Column {quoted(others[0].name)} of {origin} holds "
            f"{_in_words(others[0].type)}, not numbers: {remedy}."
        )
    narrow = all(pa.types.is_float32(field.type) for field in fields)
    return np.dtype(np.float32 if narrow else np.float64)


def to_rows(batch: pa.RecordBatch, dtype: Any, origin: str) -> Array:
    """Return the rows of a batch of columns; what is null becomes NaN."""
    with explain_errors(origin):
        # Arrow trusts what a file says of its own lengths.
        batch.validate(full=True)
        columns = [_values(column) for column in batch.columns]
    rows = np.empty((batch.num_rows, batch.num_columns), dtype=dtype)
    # There are NaNs that processors complain of.
    with np.errstate(invalid="ignore"):
        for start in range(0, len(rows), TRANSPOSED_ROWS):
            part = slice(start, start + TRANSPOSED_ROWS)
            for j, values in enumerate(columns):
                rows[part, j] = values[part]
    return rows


@contextmanager
def explain_errors(origin: str) -> Iterator[None]:
    """Turn what Arrow says of data it cannot read into one line for users."""
    try:
        yield
    except ARROW_ERRORS as error:
        raise ValueError(
            f"{origin} is damaged, or its file type is not what its name says: "
            f"{reason(error)}."
        ) from None


def _values(column: pa.Array) -> Array:
    if pa.types.is_decimal(column.type) or pa.types.is_boolean(column.type):
        column = column.cast(
            pa.float64() if pa.types.is_decimal(column.type) else pa.uint8()
        )
    values: Array = column.to_numpy(zero_copy_only=False)
    return values


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(is_of(kind) for is_of in numbers)


def _in_words(kind: pa.DataType) -> str:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    return f"values of type {reason(kind)}"
