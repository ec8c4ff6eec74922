"""Which rows are looked at, and what are their values?

Rows may be an array, a data frame, a sparse matrix, or whatever says where they are: a
file, one that is open, an iterator.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cprime.sources import Data, is_source, open_data
from cprime.sources.sparse import compressed_rows, is_sparse
from cprime.typing import Array

BLOCK_ROWS = 65_536


def open_rows(X: Any, estimator: Any) -> Any:
    """Return rows that say where they are as `Data`, any others as they are.

    Of a file with more columns, those with the names the estimator was fitted with.
    """
    if isinstance(X, Data) or not is_source(X):
        return X
    names = getattr(estimator, "feature_names_in_", None)
    path = Path(X) if isinstance(X, str | os.PathLike) else None
    nameless = callable(X) or (path is not None and path.suffix.lower() == ".npy")
    return open_data(X, None if names is None or nameless else list(names))


def as_table(X: Any, estimator: Any) -> Any:
    """Return rows that have a shape and can be taken by index."""
    X = open_rows(X, estimator)
    if isinstance(X, Data) and X.in_memory:
        return X.load()
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"X has shape {tuple(X.shape)}: rows and columns are needed. Give "
            "X.reshape(-1, 1) for one feature."
        )
    # Only compressed rows can be taken one by one.
    return compressed_rows(X) if is_sparse(X) else X


def blocks(table: Any, n_rows: int = BLOCK_ROWS) -> Iterator[Any]:
    """Yield all rows of a table, some at a time, in the form the estimator knows."""
    if isinstance(table, Data):
        for _, block in table.blocks():
            yield block
        return
    for start in range(0, table.shape[0], n_rows):
        yield take(table, np.arange(start, min(start + n_rows, table.shape[0])))


def take(table: Any, indices: Array) -> Any:
    """Return some rows, in the form the estimator knows."""
    if isinstance(table, Data):
        return table.take(indices)
    return table.iloc[indices] if hasattr(table, "iloc") else table[indices]


def values_of(block: Any) -> Array:
    """Return rows as an array of float64."""
    if hasattr(block, "toarray"):
        block = block.toarray()
    return np.asarray(block, dtype=np.float64)


def sample_indices(n_rows: int, at_most: int) -> Array:
    """Return which rows are drawn: all, or the same random ones every time."""
    if n_rows <= at_most:
        return np.arange(n_rows)
    rng = np.random.default_rng(0)
    return np.sort(rng.choice(n_rows, at_most, replace=False, shuffle=False))
