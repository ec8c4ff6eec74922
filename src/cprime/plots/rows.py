"""Which rows are looked at, and what are their values?

Rows may be an array, a data frame, a sparse matrix, or a `Data` that reads them block
by block from a file.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cprime.typing import Array

BLOCK_ROWS = 65_536


def as_table(X: Any) -> Any:
    """Return rows that have a shape and can be taken by index."""
    if isinstance(X, str) or hasattr(X, "__fspath__"):
        raise TypeError(
            f"X={str(X)!r} is the name of a file: give its rows, cprime.open_data(X)."
        )
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"X has shape {tuple(X.shape)}: rows and columns are needed. Give "
            "X.reshape(-1, 1) for one feature."
        )
    # Only compressed rows can be taken one by one.
    return X.tocsr() if hasattr(X, "tocsr") else X


def is_streamed(X: Any) -> bool:
    """Return whether rows are read block by block."""
    return hasattr(X, "blocks")


def blocks(X: Any, n_rows: int = BLOCK_ROWS) -> Iterator[Any]:
    """Yield all rows, some at a time, in the form the estimator knows."""
    X = as_table(X)
    if is_streamed(X):
        for _, block in X.blocks():
            yield block
        return
    for start in range(0, X.shape[0], n_rows):
        yield taken(X, np.arange(start, min(start + n_rows, X.shape[0])))


def taken(X: Any, indices: Array) -> Any:
    """Return some rows, in the form the estimator knows."""
    if is_streamed(X):
        return X.take(indices)
    return X.iloc[indices] if hasattr(X, "iloc") else X[indices]


def values_of(block: Any) -> Array:
    """Return rows as an array of float64."""
    if hasattr(block, "toarray"):
        block = block.toarray()
    return np.asarray(block, dtype=np.float64)


def chosen(n_rows: int, at_most: int) -> Array:
    """Return which rows are drawn: all, or the same random ones every time."""
    if n_rows <= at_most:
        return np.arange(n_rows)
    rng = np.random.default_rng(0)
    return np.sort(rng.choice(n_rows, at_most, replace=False, shuffle=False))
