"""What may come in through a door, and what to tell the person when it may not."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from cprime.typing import Array

# Magnitudes between 2**-400 and 2**400 are left alone: their squares, summed over any
# number of rows, stay inside float64. Others are brought to the edge of that window.
LARGEST_EXPONENT = 400
# A row this far outside the window of its model has squares that overflow.
FARTHEST_EXPONENT = 490
# Weights multiply squares, so their window is smaller.
LARGEST_WEIGHT_EXPONENT = 100


def checked_data(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X as finite float32 or float64, dense or CSR, or say what is wrong.

    Parameters
    ----------
    estimator : estimator
        Remembers the number and names of features if `reset`, or compares them.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
    reset : bool
    """
    _refuse_masked(X)
    _refuse_text(X)
    X = validate_data(
        estimator,
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
        reset=reset,
    )
    if not math.isfinite(magnitude(X)):
        names = getattr(estimator, "feature_names_in_", None)
        raise ValueError(_not_finite(X, names, type(estimator).__name__))
    return X


def checked_weights(sample_weight: Any, n_rows: int) -> Array:
    """Return one float64 weight per row, or say which row's weight is wrong."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "fiubO":
        raise ValueError(f"sample_weight must be numbers, not {weights.dtype}.")
    weights = weights.astype(np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but X has {n_rows} rows: "
            f"give one weight per row, shape ({n_rows},)."
        )
    for wrong, problem in (
        (~np.isfinite(weights), "not a finite number"),
        (weights < 0, "negative"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"sample_weight of row {row} is {weights[row]}, which is {problem} "
                f"({np.count_nonzero(wrong)} such rows in all)."
            )
    if not weights.any():
        raise ValueError("All sample_weight are zero: no row is left to look at.")
    return weights


def checked_means(init: Any, n_clusters: int, X: Any) -> Array:
    """Return given centres in the dtype of X, or say what is wrong with them."""
    if sp.issparse(init):
        init = init.toarray()
    means = np.array(init, dtype=X.dtype, order="C", ndmin=2)
    if means.shape[0] != n_clusters:
        raise ValueError(
            f"The shape of the initial centers {means.shape} does not "
            f"match the number of clusters {n_clusters}."
        )
    if means.shape != (n_clusters, X.shape[1]):
        raise ValueError(
            f"The shape of the initial centers {means.shape} does not "
            f"match the number of features of the data {X.shape[1]}."
        )
    if not np.isfinite(means).all():
        row, column = np.argwhere(~np.isfinite(means))[0]
        raise ValueError(
            f"init holds {means[row, column]} at row {row}, column {column}: "
            "initial centers must be finite numbers."
        )
    return means


def magnitude(X: Any) -> float:
    """Return the largest absolute value in X; inf or nan if it holds such a value."""
    values = X.data if sp.issparse(X) else X
    if values.size == 0:
        return 0.0
    lowest, highest = float(values.min()), float(values.max())
    return max(abs(lowest), abs(highest)) if lowest <= highest else math.nan


def scale_of(largest: float, window: int = LARGEST_EXPONENT) -> float:
    """Return the power of two that brings `largest` into the window; mostly 1."""
    if largest == 0.0:
        return 1.0
    exponent = math.frexp(largest)[1]
    return math.ldexp(1.0, min(max(exponent, -window), window) - exponent)


def refuse_far_rows(X: Any, scale: float, what: str) -> None:
    """Raise if squares of these values overflow at the scale of the model."""
    limit = math.ldexp(1.0, FARTHEST_EXPONENT) / scale
    if magnitude(X) <= limit:
        return
    row, column, value, _ = _first(X, lambda values: np.abs(values) > limit)
    raise ValueError(
        f"{what} holds {value:.3g} at row {row}, column {column}. That is so much "
        f"larger than the rest (limit {limit:.3g}) that squared distances cannot be "
        "told apart in float64: remove the row, or rescale or clip the column."
    )


def _refuse_masked(X: Any) -> None:
    if np.ma.isMaskedArray(X) and np.ma.is_masked(X):
        row, *column = np.argwhere(np.ma.getmaskarray(X))[0]
        raise ValueError(
            "X is a masked array with masked values, the first in row "
            f"{', column '.join(str(i) for i in (row, *column))}. Masks would be "
            "ignored: drop those rows or fill the values first."
        )


def _refuse_text(X: Any) -> None:
    if sp.issparse(X):
        return
    if hasattr(X, "head") and np.asarray(X.head(1)).dtype.kind not in "OUS":
        return
    values = np.asarray(X)
    if values.dtype.kind in "US":
        raise ValueError(
            f"X holds text ({values.dtype}), not numbers: convert it with "
            "X.astype(float), or encode the categories."
        )
    if values.dtype.kind == "O" and values.ndim == 2:
        for (row, column), value in np.ndenumerate(values):
            if isinstance(value, str | bytes):
                raise ValueError(
                    f"X holds the text {value!r} at row {row}, column {column}: "
                    "convert it to a number, or encode the categories."
                )


def _not_finite(X: Any, names: Array | None, estimator_name: str) -> str:
    row, column, value, count = _first(X, lambda values: ~np.isfinite(values))
    name = "" if names is None else f" ({names[column]!r})"
    kind = "NaN" if math.isnan(value) else "infinity"
    return (
        f"Input X contains {kind} at row {row}, column {column}{name}; {count} "
        f"value(s) are NaN or infinite in all. {estimator_name} needs finite numbers: "
        "drop those rows or impute them first."
    )


def _first(X: Any, where: Any) -> tuple[int, int, float, int]:
    """Return row, column and value of the first hit, and the number of hits."""
    if sp.issparse(X):
        hits = np.flatnonzero(where(X.data))
        row = int(np.searchsorted(X.indptr, hits[0], side="right")) - 1
        return row, int(X.indices[hits[0]]), float(X.data[hits[0]]), len(hits)
    places = np.argwhere(where(X))
    row, column = (int(i) for i in places[0])
    return row, column, float(X[row, column]), len(places)
