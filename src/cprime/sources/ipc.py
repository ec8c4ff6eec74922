"""Rows of an Arrow (Feather) file."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as pa_ipc

from cprime.sources.arrow import Head, batch_rows, explain_errors
from cprime.sources.display import shown
from cprime.sources.guards.arrow_sizes import refuse_large_batches


def head(path: Path, memory: int) -> Head:
    """Return the columns of a file; it does not say how many rows it has.

    Parameters
    ----------
    path : Path
    memory : int
        Bytes that a batch of the file may take.
    """
    with explain_errors(shown(path)), _open(path) as file:
        head = Head.of(pa_ipc.open_file(file).schema)
    refuse_large_batches(path, memory)
    return head


def batches(path: Path, names: list[str], *_: Any) -> Iterator[pa.RecordBatch]:
    """Yield these columns of all rows, in batches, of a file that was looked at."""
    with explain_errors(shown(path)), _open(path) as file:
        schema = pa_ipc.open_file(file).schema
        wanted = [schema.get_field_index(name) for name in names]
        options = pa_ipc.IpcReadOptions(included_fields=wanted)
        reader = pa_ipc.open_file(file, options=options)
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i).select(names)
            # Arrow trusts what a file says of its own lengths.
            batch.validate(full=True)
            for start in range(0, batch.num_rows, batch_rows(len(names))):
                yield batch.slice(start, batch_rows(len(names)))


def _open(path: Path) -> Any:
    # Arrow knows no other names than those in UTF-8, but takes bytes as they are.
    return pa.OSFile(os.fsencode(path))
