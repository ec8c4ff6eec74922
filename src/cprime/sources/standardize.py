"""By what are columns shifted and divided to have mean 0 and standard deviation 1?"""

import math
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from cprime.blocks import LEAF_ROWS
from cprime.sources.display import quoted
from cprime.summation import LeafSum
from cprime.typing import Array


def shift_and_scale(data: Any, weights: Array | None = None) -> tuple[Array, Array]:
    """Return the mean and the standard deviation of every column, shape (D,) each.

    That of a column which is the same in all rows is 1: it is only shifted. Sums have
    a fixed order, wherever the rows are.

    Parameters
    ----------
    data : Data or DaskData
    weights : ndarray of shape (N,), optional
        How often each row counts.
    """
    if not math.isfinite(data.largest):
        row, place, value, count = data.first(lambda rows: ~np.isfinite(rows))
        called = str(place) if data.names is None else quoted(data.names[place])
        raise ValueError(
            f"{data.origin} holds {value} at {data.place_of(row)}, column {called} "
            f"({count} such {'value' if count == 1 else 'values'} in all): "
            "drop those rows or fill them in first."
        )
    first = data.take(np.array([0]))[0].astype(np.float64)
    with np.errstate(over="ignore"):
        mean = first + _mean(data, lambda rows: rows - first, weights)
        variance = _mean(data, lambda rows: (rows - mean) ** 2, weights)
    lost = (variance < np.finfo(np.float64).tiny) | ~np.isfinite(variance)
    if lost.any():
        lost &= _mean(data, lambda rows: rows != first, weights) > 0.0
    for column in np.flatnonzero(lost):
        name = column if data.names is None else quoted(data.names[column])
        large = "large" if variance[column] > 1.0 else "small"
        raise ValueError(
            f"Values of column {name} of {data.origin} are too {large} to be "
            "standardized: their squares are beyond float64. Give them in other units."
        )
    return mean, np.where(variance > 0.0, np.sqrt(variance), 1.0)


def _mean(
    data: Any, function: Callable[[Array], Array], weights: Array | None
) -> Array:
    def weighted(start: int, values: Array) -> Array:
        if weights is None:
            return values
        return values * weights[start : start + len(values), None]

    def of_block(start: int, values: Array) -> LeafSum:
        leaves = (
            LeafSum.of_leaf(
                (start + i) // LEAF_ROWS,
                weighted(start + i, function(leaf)).sum(axis=0),
            )
            for i in range(0, len(values), LEAF_ROWS)
            for leaf in [values[i : i + LEAF_ROWS].astype(np.float64)]
        )
        return reduce(add, leaves)

    total = data.n_rows if weights is None else weights.sum()
    mean: Array = data.leaf_sum(of_block).total() / total
    return mean


def scaled_rows(
    values: Array, shift: Array, scale: Array, out: Array | None = None
) -> Array:
    """Return (values - shift) / scale, as scikit-learn's StandardScaler computes it.

    In the precision of the rows.
    """
    moved: Array = np.subtract(values, shift.astype(values.dtype), out=out)
    moved /= scale.astype(values.dtype)
    return moved
