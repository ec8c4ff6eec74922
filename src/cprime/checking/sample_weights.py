"""Is there one weight for every row?"""

from typing import Any

import numpy as np

from cprime.blocks import unit_weights
from cprime.checking import tables
from cprime.rows import is_dask_data
from cprime.sources import is_dask
from cprime.typing import Array


def weights_of(sample_weight: Any, X: Any) -> Any:
    """Return a weight for every row of X, which was checked: where the rows are."""
    if not is_dask_data(X):
        return checked_weights(sample_weight, X.shape[0])
    from cprime.checking import collections

    return collections.checked_weights(sample_weight, X)


def checked_weights(sample_weight: Any, n_rows: int) -> Array:
    """Return one float64 weight per row, or say which row's weight is wrong."""
    if is_dask(sample_weight):
        raise TypeError(
            "sample_weight is a Dask collection, but X is not: give it as an array, "
            "sample_weight.compute()."
        )
    if sample_weight is None:
        return unit_weights(n_rows)
    weights = tables.numbers(sample_weight, "sample_weight")
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
        raise ValueError("All sample_weight are zero: no row is left.")
    return weights
