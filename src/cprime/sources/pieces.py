"""Chunks of a Dask collection, cut at other places and put together again."""

from collections.abc import Iterator
from typing import Any

import dask.array as da
import numpy as np

from cprime.sources.chunks import as_numbers, chunk_size, piece, put_together
from cprime.sources.cluster import Task, results, started, task
from cprime.sources.leaf_runs import overlaps


def column_chunks(values: Any) -> tuple[list[Task], tuple[int, ...]]:
    """Return the parts of a Dask array or column of numbers, and how long they are."""
    parts = np.ravel(values.to_delayed())
    chunks = started([task(as_numbers, part, np.dtype(np.float64)) for part in parts])
    return chunks, tuple(results([task(chunk_size, chunk) for chunk in chunks]))


def cut(
    chunks: list[Task], lengths: tuple[int, ...], places: list[slice]
) -> Iterator[list[Task]]:
    """Yield the pieces of chunks that lie in every place, in their order."""
    for place in places:
        yield [
            task(piece, chunks[i], start, stop)
            for i, start, stop in overlaps(lengths, place)
        ]


def joined(
    chunks: list[Task], lengths: tuple[int, ...], places: list[slice]
) -> list[Task]:
    """Return what lies in every place, put together from pieces of chunks."""
    return [task(put_together, *pieces) for pieces in cut(chunks, lengths, places)]


def as_array(tasks: list[Task], lengths: tuple[int | None, ...], sample: Any) -> Any:
    """Return results of consecutive chunks as one Dask array."""
    inner = sample.shape[1:]
    parts = [
        da.from_delayed(
            one, (np.nan if n is None else n, *inner), meta=np.asarray(sample[:0])
        )
        for one, n in zip(tasks, lengths)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)
