"""By what are columns shifted and divided to have mean 0 and standard deviation 1?"""

import math
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from cprime.blocks import LEAF_ROWS
from cprime.sources.display import quoted
from cprime.summation import LeafSum
from cprime.typing import Array

if TYPE_CHECKING:
    from cprime.sources.data import Data


def shift_and_scale(data: "Data", weights: Array | None = None) -> tuple[Array, Array]:
    """Return the mean and the standard deviation of every column, shape (D,) each.

    That of a column which is the same in all rows is 1: it is only shifted. Sums have
    a fixed order, wherever the rows are.

    Parameters
    ----------
    data : Data
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
    first = data.read(0, 1)[0].astype(np.float64)
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
    data: "Data", function: Callable[[Array], Array], weights: Array | None
) -> Array:
    def weighted(start: int, values: Array) -> Array:
        if weights is None:
            return values
        return values * weights[start : start + len(values), None]

    leaves = (
        LeafSum.of_leaf(
            (start + i) // LEAF_ROWS, weighted(start + i, function(leaf)).sum(axis=0)
        )
        for start, values in data.blocks(data.block_rows)
        for i in range(0, len(values), LEAF_ROWS)
        for leaf in [values[i : i + LEAF_ROWS].astype(np.float64)]
    )
    total = data.n_rows if weights is None else weights.sum()
    mean: Array = reduce(add, leaves).total() / total
    return mean
