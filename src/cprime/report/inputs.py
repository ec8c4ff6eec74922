"""Which rows does a report look at, and in whose units?"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.advice.wording import name_columns
from cprime.plots.tables import Table
from cprime.sources import is_source, open_data
from cprime.sources.display import quoted
from cprime.sources.sparse import is_sparse
from cprime.typing import Array


@dataclass(frozen=True)
class Scaling:
    """How the user's units and those of the fit go together.

    A fit sees (value - shift) / scale of the user's values, column by column.

    Attributes
    ----------
    shift, scale : ndarray of shape (D,), or 0.0 and 1.0
    already : bool
        Whether rows come as the fit sees them.
    """

    shift: Any = 0.0
    scale: Any = 1.0
    already: bool = False

    @property
    def is_none(self) -> bool:
        """Whether both have the same units."""
        return not np.any(self.shift) and bool(np.all(np.asarray(self.scale) == 1.0))

    def for_fit(self, rows: Array) -> Array:
        """Return rows as they come in the units of the fit."""
        if self.already or self.is_none:
            return rows
        scaled: Array = (rows - self.shift) / self.scale
        return scaled.astype(rows.dtype)

    def for_user(self, rows: Array) -> Array:
        """Return rows as they come in the user's units."""
        return self.undo(rows) if self.already else rows

    def undo(self, of_fit: Array) -> Array:
        """Return values in the units of the fit, such as means, in the user's."""
        return of_fit if self.is_none else of_fit * self.scale + self.shift


class ArrayData(Table):
    """An array, frame or sparse matrix in the form of `Data`: dense rows of floats."""

    origin = ""

    def __init__(self, X: Any):
        columns = getattr(X, "columns", None)
        self.names = None if columns is None else tuple(str(name) for name in columns)
        if not is_sparse(X):
            X = np.asarray(X)
            if X.dtype not in (np.float32, np.float64):
                X = X.astype(np.float64)
            if X.ndim != 2:
                raise ValueError(f"X has shape {X.shape}: give rows and columns.")
        super().__init__(X)
        self.dtype = self.X.dtype
        self.nbytes = self.n_rows * self.n_features * int(self.dtype.itemsize)

    def read(self, start: int, stop: int) -> Array:
        return _dense(self.X[start:stop])

    def take(self, indices: Array) -> Array:
        return _dense(self.X[indices])

    def fingerprint(self) -> str:
        """Return a hash of shape, dtype and values, as `Data` has it."""
        found = hashlib.sha256(repr((self.shape, self.dtype.str)).encode())
        for _, block in self.blocks(max(1, 2**20 // self.n_features)):
            found.update(np.ascontiguousarray(block).data)
        return f"sha256:{found.hexdigest()}"


def _dense(rows: Any) -> Array:
    dense: Array = rows.toarray() if hasattr(rows, "toarray") else rows
    return dense


def as_data(data: Any) -> Any:
    """Return what can be gone through block by block."""
    found = open_data(data) if is_source(data) else ArrayData(data)
    if not found.n_rows:
        raise ValueError("There are no rows to report on: give some, or none at all.")
    return found


def scaling_of(data: Any, given: tuple[Any, Any] | None, n_features: int) -> Scaling:
    """Return how rows were scaled for the fit.

    Parameters
    ----------
    data : Data, or None
        May say that it is standardised, by a shift and a scale of its own.
    given : (shift, scale), or None
        What the user says was done to the columns before the fit.
    n_features : int
    """
    already = getattr(data, "shift", None) is not None
    if already:
        given = (data.shift, data.scale)
    elif given is None:
        return Scaling()
    shift, scale = (np.asarray(of, dtype=np.float64) for of in given)
    if shift.shape != (n_features,) or scale.shape != (n_features,):
        raise ValueError(
            f"scaling has shapes {shift.shape} and {scale.shape}: give a shift and a "
            f"scale for each of the {n_features} columns."
        )
    return Scaling(shift, scale, already)


def column_names(estimator: Any, data: Any, n_features: int) -> Sequence[str]:
    """Return what columns are called, or say that they are not those of the fit."""
    fitted = getattr(estimator, "feature_names_in_", None)
    names = None if data is None else data.names
    if data is not None and data.n_features != n_features:
        raise ValueError(
            f"The data have {data.n_features} columns, but {type(estimator).__name__} "
            f"was fitted to {n_features}."
        )
    if names is not None and fitted is not None and list(names) != list(fitted):
        column = next(d for d in range(n_features) if names[d] != fitted[d])
        raise ValueError(
            f"Column {column} of the data is {quoted(names[column])}, but that of the "
            f"fit is {quoted(fitted[column])}: give the same columns in the same order."
        )
    return name_columns(fitted if names is None else names, n_features)
