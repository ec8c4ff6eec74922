"""Rows of a Parquet file."""

import os
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cprime.sources.arrow import Head, batch_rows, explain_errors
from cprime.sources.display import quoted, shown
from cprime.sources.guards.parquet_sizes import ParquetSizes
from cprime.sources.memory import in_words, too_much

READ_BUFFER = 2**16


def head(path: Path, memory: int) -> Head:
    """Return columns and number of rows of a file.

    Parameters
    ----------
    path : Path
    memory : int
        Bytes that may be taken to look at it.
    """
    sizes = ParquetSizes(path, memory)
    with explain_errors(shown(path)), _open(path) as file:
        return Head.of(file.schema_arrow, file.metadata.num_rows, sizes)


def row_groups(path: Path) -> list[int]:
    """Return how many rows each of the groups has that can be read by themselves."""
    with explain_errors(shown(path)), _open(path) as file:
        of = file.metadata
        return [of.row_group(i).num_rows for i in range(of.num_row_groups)]


def batches(
    path: Path,
    names: list[str],
    memory: int,
    sizes: ParquetSizes | None,
    groups: Sequence[int] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield these columns of all rows, in batches.

    Parameters
    ----------
    path : Path
    names : list of str
    memory : int
        Bytes that pages of all these columns may take together.
    sizes : ParquetSizes, optional
        Of its head, if it was kept.
    groups : sequence of int, optional
        Of which groups of rows; by default of all.
    """
    if sizes is None or not sizes.are_of(path):
        sizes = ParquetSizes(path, memory)
    n_rows = 0
    with explain_errors(shown(path)), _open(path) as file:
        of = file.metadata
        wanted = range(of.num_row_groups) if groups is None else groups
        declared = of.num_rows
        if groups is not None:
            declared = sum(of.row_group(i).num_rows for i in groups)
        _refuse_large_pages(shown(path), sizes, file.schema, names, memory)
        at_once = batch_rows(len(names))
        for batch in file.iter_batches(at_once, row_groups=wanted, columns=names):
            n_rows += batch.num_rows
            yield batch.select(names)
    if n_rows != declared:
        raise ValueError(
            f"{shown(path)} is damaged: it declares {declared} rows and has {n_rows}."
        )


def _open(path: Path) -> Any:
    # Arrow knows no other names than those in UTF-8, but takes bytes as they are.
    file = pa.OSFile(os.fsencode(path))
    return pq.ParquetFile(
        file,
        pre_buffer=False,
        buffer_size=READ_BUFFER,
        page_checksum_verification=True,
    )


def _refuse_large_pages(
    origin: str, sizes: ParquetSizes, schema: Any, names: list[str], memory: int
) -> None:
    """Raise if pages that are read at the same time do not fit in memory."""
    columns = _read_together(schema, set(names))
    pages = sizes.largest_pages(columns, len(schema))
    needed = sum(pages)
    if needed > memory:
        column = schema.column(columns[pages.index(max(pages))]).path
        raise ValueError(
            f"Pages of {origin} take {in_words(needed)} together, up to "
            f"{in_words(max(pages))} in column {quoted(column)}, "
            f"{too_much(needed, memory)}, or write the file with smaller pages."
        )


def _read_together(schema: Any, names: set[str]) -> list[int]:
    """Return the columns Arrow reads when asked for these names.

    It takes the name of a column for that of all fields in it: "a" is also "a.b".
    """
    paths = (schema.column(j).path for j in range(len(schema)))
    return [
        j
        for j, path in enumerate(paths)
        if any(start in names for start in accumulate(path.split("."), "{}.{}".format))
    ]
