"""How are batches of rows put together, on disk once memory is full?"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cprime.sources.memory import refuse_full_disk
from cprime.sources.row_file import RowFile
from cprime.sources.scratch import scratch_rows
from cprime.typing import Array


def collect_rows(
    batches: Iterable[Array],
    n_features: int,
    dtype: Any,
    memory: int,
    folder: Path,
    declared: int | None = None,
) -> Array | RowFile:
    """Return all rows of these batches, on disk if they take more than `memory`.

    Parameters
    ----------
    batches : iterable of ndarray of shape (any, n_features)
    n_features : int
    dtype : dtype
    memory : int
        Bytes.
    folder : Path
        Where rows go that memory does not hold.
    declared : int, optional
        How many rows there should be: a disk too small is noticed before the first.
    """
    if declared is not None:
        n_bytes = declared * n_features * np.dtype(dtype).itemsize
        if n_bytes > memory:
            refuse_full_disk(folder, n_bytes, f"{declared} rows")
    held: list[Array] = []
    filled, n_bytes = (batch for batch in batches if len(batch)), 0
    for batch in filled:
        held.append(_convert(batch, dtype))
        n_bytes += held[-1].nbytes
        if n_bytes > memory:
            return _spill(held, filled, n_features, dtype, folder)
    if not held:
        return np.empty((0, n_features), dtype=dtype)
    return held[0] if len(held) == 1 else np.concatenate(held)


def _spill(
    held: list[Array],
    batches: Iterator[Array],
    n_features: int,
    dtype: Any,
    folder: Path,
) -> RowFile:
    n_held = sum(len(batch) for batch in held)
    rows = scratch_rows(folder, (n_held, n_features), dtype, f"The first {n_held} rows")
    n_rows = written = 0
    for batch in (_convert(batch, dtype) for batch in _drain(held, batches)):
        needed, what = written + batch.nbytes, f"The first {n_rows + len(batch)} rows"
        refuse_full_disk(folder, needed, what, written)
        rows.write(batch, n_rows)
        n_rows, written = n_rows + len(batch), needed
    rows.shape = (n_rows, n_features)
    return rows


def _drain(held: list[Array], batches: Iterator[Array]) -> Iterator[Array]:
    held.reverse()
    while held:
        yield held.pop()
    yield from batches


def _convert(batch: Array, dtype: Any) -> Array:
    # There are NaNs that processors complain of.
    with np.errstate(invalid="ignore"):
        return np.ascontiguousarray(batch, dtype=dtype)
