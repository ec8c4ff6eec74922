"""Where do the rows live?"""

from typing import Any

from cprime.rows.base import Rows
from cprime.rows.file import FileRows
from cprime.rows.memory import MemoryRows
from cprime.sources import Data
from cprime.sources.sparse import compressed_rows, is_sparse

__all__ = ["FileRows", "MemoryRows", "Rows", "as_rows", "is_dask_data", "rows_of"]


def as_rows(X: Any) -> Rows:
    """Return X as rows; rows pass through unchanged.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (N, D), Data, or Rows
    """
    if isinstance(X, Rows):
        return X
    return rows_of(compressed_rows(X) if is_sparse(X) else X)


def rows_of(X: Any, weights: Any = None, scale: float = 1.0) -> Rows:
    """Return weighted rows of what was checked before.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (N, D), Data or DaskData
    weights : ndarray of shape (N,), or DaskWeights, optional
    scale : float, default=1.0
        A power of two every value is multiplied by.
    """
    if is_dask_data(X):
        from cprime.rows.dask import DaskRows

        return DaskRows(X, weights, scale)
    kind = FileRows if isinstance(X, Data) else MemoryRows
    return kind(X, weights, scale)


def is_dask_data(X: Any) -> bool:
    """Return whether X is `DaskData`, which takes an extra to import."""
    return any(kind.__name__ == "DaskData" for kind in type(X).__mro__)
