"""How are rows gone through, whatever they come as?

They may be an array, a data frame, a sparse matrix, or whatever says where they are: a
file, one that is open, an iterator.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cprime.kernels.tensors import is_on_gpu
from cprime.sources import Data, is_source, open_data
from cprime.sources.sparse import compressed_rows, is_sparse
from cprime.typing import Array

BLOCK_ROWS = 65_536


class Table:
    """An array, frame or sparse matrix, gone through as `Data` is.

    Rows stay in the form they came in, which the estimator knows.
    """

    def __init__(self, X: Any):
        # Only compressed rows can be taken one by one.
        self.X = compressed_rows(X) if is_sparse(X) else X
        self.n_rows, self.n_features = (int(n) for n in X.shape)
        self.shape = self.n_rows, self.n_features

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[tuple[int, Any]]:
        """Yield the number of the first row of a block, and the block."""
        for start in range(0, self.n_rows, n_rows):
            yield start, self.read(start, min(start + n_rows, self.n_rows))

    def read(self, start: int, stop: int) -> Any:
        """Return the rows from `start` up to `stop`."""
        return self.take(np.arange(start, stop))

    def take(self, indices: Array) -> Any:
        """Return these rows."""
        return self.X.iloc[indices] if hasattr(self.X, "iloc") else self.X[indices]


def open_rows(X: Any, estimator: Any) -> Any:
    """Return rows that say where they are as `Data`, any others as they are.

    Of a file with more columns, those with the names the estimator was fitted with.
    """
    if is_on_gpu(X):
        raise TypeError(
            f"X is a tensor on {X.device}, and is drawn and described in the memory of "
            "the host: give a copy there, X.cpu().numpy()."
        )
    if isinstance(X, Data) or not is_source(X):
        return X
    names = getattr(estimator, "feature_names_in_", None)
    path = Path(X) if isinstance(X, str | os.PathLike) else None
    nameless = callable(X) or (path is not None and path.suffix.lower() == ".npy")
    return open_data(X, None if names is None or nameless else list(names))


def as_table(X: Any, estimator: Any) -> Data | Table:
    """Return rows that can be gone through block by block, and taken by index."""
    X = open_rows(X, estimator)
    if isinstance(X, Data):
        return Table(X.load()) if X.in_memory else X
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"X has shape {tuple(X.shape)}: rows and columns are needed. Give "
            "X.reshape(-1, 1) for one feature."
        )
    return Table(X)


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
