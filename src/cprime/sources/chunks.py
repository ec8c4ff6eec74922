"""What happens to a chunk of a Dask collection on the worker that has it?"""

from collections.abc import Callable
from typing import Any

import numpy as np

from cprime.typing import Array

# Raises if there is something wrong with rows, of which a function says where they are.
Check = Callable[[Array, Callable[[int], str]], None]


def as_numbers(chunk: Any, dtype: Any) -> Array:
    """Return a chunk, whatever Dask made it of, as an array of numbers."""
    if hasattr(chunk, "toarray") or hasattr(chunk, "todense"):
        raise TypeError(
            "X has sparse chunks: sparse rows are not supported in Dask collections. "
            "Make them dense, X.map_blocks(lambda chunk: chunk.toarray())."
        )
    if hasattr(chunk, "to_numpy"):
        chunk = chunk.to_numpy(dtype=dtype, na_value=np.nan)
    return np.ascontiguousarray(chunk, dtype=dtype)


def piece(chunk: Array, start: int, stop: int) -> Array:
    """Return some rows of a chunk, as a view of it."""
    return chunk[start:stop]


def put_together(*pieces: Array) -> Array:
    """Return consecutive pieces as one array, without a copy if there is only one."""
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def chunk_size(chunk: Array) -> int:
    """Return how many values a chunk of one dimension has."""
    return int(chunk.size)


def evaluated(
    chunk: Array,
    wanted: tuple[Callable[[Array], Any], list[Check]],
    index: int,
    first: int | None,
) -> Any:
    """Return a function of a chunk's rows, once they were checked.

    Parameters
    ----------
    chunk : ndarray of shape (any, D)
    wanted : (callable, list of Check)
        The function, and what looks at the rows before.
    index : int
        Number of the chunk.
    first : int, optional
        Number of its first row, if that is known.
    """

    def place_of(row: int) -> str:
        if first is None:
            return f"row {row} of chunk {index}"
        return f"row {first + row}"

    function, checks = wanted
    for check in checks:
        check(chunk, place_of)
    return function(chunk)


def unchanged(chunk: Array) -> Array:
    """Return the rows themselves."""
    return chunk
