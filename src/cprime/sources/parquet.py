"""Rows of a Parquet file: what it says of itself, and whether it can be read safely.

Arrow believes a page that says how large it becomes when decompressed. A few hundred
bytes can become gigabytes, so pages are looked at before they are read.
"""

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cprime.sources.arrow import Head, batch_rows, said_of
from cprime.sources.memory import in_words
from cprime.sources.raw import OpenFile
from cprime.sources.thrift import DamagedError, TruncatedError, numbers_of
from cprime.sources.words import quoted, shown

# Fields of a page's header.
UNCOMPRESSED_SIZE, COMPRESSED_SIZE = 2, 3
# A header is short, unless it holds statistics of long values.
HEADER_BYTES, LONGEST_HEADER = 2**8, 2**24
READ_BUFFER = 2**16


def head(path: Path) -> Head:
    """Return columns and number of rows of a file."""
    with _opened(path) as file:
        return Head(file.schema_arrow, file.metadata.num_rows)


def batches(path: Path, names: list[str], memory: int) -> Iterator[pa.RecordBatch]:
    """Yield these columns of all rows, in batches.

    Parameters
    ----------
    path : Path
    names : list of str
    memory : int
        Bytes that pages of all these columns may take together.
    """
    n_rows = 0
    with _opened(path) as file, said_of(shown(path)):
        metadata = file.metadata
        _refuse_large_pages(path, metadata, names, memory)
        for batch in file.iter_batches(batch_rows(len(names)), columns=names):
            n_rows += batch.num_rows
            yield batch.select(names)
    if n_rows != metadata.num_rows:
        raise _damaged(path, f"it declares {metadata.num_rows} rows and has {n_rows}")


def _opened(path: Path) -> Any:
    with said_of(shown(path)):
        return pq.ParquetFile(
            path, memory_map=False, pre_buffer=False, buffer_size=READ_BUFFER
        )


def _refuse_large_pages(
    path: Path, metadata: Any, names: list[str], memory: int
) -> None:
    """Raise if pages that are read at the same time do not fit in memory."""
    file = OpenFile.to_read(path)
    largest = dict.fromkeys(_read_together(metadata, set(names)), 0)
    n_bytes, size = 0, file.size
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for j in largest:
            chunk = row_group.column(j)
            n_bytes += max(0, chunk.total_compressed_size)
            if n_bytes > size:
                raise _damaged(path, "its columns overlap")
            largest[j] = max(largest[j], _largest_page(path, file, chunk))
    together = sum(largest.values())
    if together > memory:
        j = max(largest, key=largest.__getitem__)
        raise ValueError(
            f"Pages of {shown(path)} take {in_words(together)} together, up to "
            f"{in_words(largest[j])} in column {quoted(metadata.schema.column(j).path)}"
            ", and memory allows "
            f"{in_words(memory)}: allow more `memory`, or write the file with smaller "
            "pages."
        )


def _read_together(metadata: Any, names: set[str]) -> list[int]:
    """Return the columns Arrow reads when asked for these names.

    It takes the name of a column for that of all fields in it: "a" is also "a.b".
    """
    paths = (metadata.schema.column(j).path for j in range(metadata.num_columns))
    return [
        j
        for j, path in enumerate(paths)
        if any(start in names for start in accumulate(path.split("."), "{}.{}".format))
    ]


def _largest_page(path: Path, file: OpenFile, chunk: Any) -> int:
    """Return what the largest page of a column takes, as it lies there and unpacked."""
    if chunk.num_values == 0:
        return 0
    at = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < at:
        at = chunk.dictionary_page_offset
    end, size, largest = at + chunk.total_compressed_size, file.size, 0
    if not 0 <= at <= end <= size:
        raise _damaged(path, "it ends within its columns")
    while at < end:
        sizes, length = _page(path, file, at)
        unpacked, packed = (
            sizes.get(UNCOMPRESSED_SIZE, -1),
            sizes.get(COMPRESSED_SIZE, -1),
        )
        at += length + packed
        if min(unpacked, packed) < 0 or at > size:
            raise _damaged(path, "it ends within a page")
        largest = max(largest, unpacked + packed)
    return largest


def _page(path: Path, file: OpenFile, at: int) -> tuple[dict[int, int], int]:
    """Return the numbers in the header of a page, and how long it is."""
    n_bytes = HEADER_BYTES
    while n_bytes <= LONGEST_HEADER:
        data = file.read(at, n_bytes)
        try:
            return numbers_of(data)
        except DamagedError:
            break
        except TruncatedError:
            n_bytes = n_bytes * 16 if len(data) == n_bytes else LONGEST_HEADER + 1
    raise _damaged(path, "a page has no header")


def _damaged(path: Path, why: str) -> ValueError:
    return ValueError(f"{shown(path)} is damaged: {why}.")
