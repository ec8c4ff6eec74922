"""Where do the rows live?"""

from typing import Any

from cprime.rows.base import Rows
from cprime.rows.file import FileRows
from cprime.rows.memory import MemoryRows
from cprime.sources import Data
from cprime.sources.sparse import compressed_rows, is_sparse
from cprime.typing import Array

__all__ = ["FileRows", "MemoryRows", "Rows", "as_rows", "rows_of"]


def as_rows(X: Any) -> Rows:
    """Return X as rows; rows pass through unchanged.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (N, D), Data, or Rows
    """
    if isinstance(X, Rows):
        return X
    return rows_of(compressed_rows(X) if is_sparse(X) else X)


def rows_of(X: Any, weights: Array | None = None, scale: float = 1.0) -> Rows:
    """Return weighted rows of what was checked before.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (N, D), or Data
    weights : ndarray of shape (N,), optional
    scale : float, default=1.0
        A power of two every value is multiplied by.
    """
    kind = FileRows if isinstance(X, Data) else MemoryRows
    return kind(X, weights, scale)
