"""Is there a cluster for every row?"""

from typing import Any

import numpy as np

from cprime.checking import tables
from cprime.rows import Rows, is_dask_data
from cprime.typing import Array


def is_assignment(given: Any) -> bool:
    """Return whether it is one number for every row, and no centres."""
    if isinstance(given, str) or callable(given):
        return False
    try:
        return np.ndim(given) == 1
    except ValueError:
        # Lines of any length, which is said where they are read.
        return False


def refuse_on_workers(X: Any, parameter: str) -> None:
    """Raise if rows that are to start from an assignment are those of a cluster."""
    if is_dask_data(X):
        raise TypeError(
            f"{parameter} as one cluster of every row is not supported for rows on the "
            "workers of a Dask cluster: give centers, or the name of a seeding."
        )


def checked_assignment(given: Any, C: int, rows: Rows, parameter: str) -> Array:
    """Return the cluster of every row, or say which row's or cluster's is wrong.

    Every cluster needs a row of positive weight.
    """
    labels = tables.numbers(given, parameter)
    wanted = f"give one of every row, a whole number from 0 to {C - 1}"
    if labels.shape != (rows.n_rows,):
        raise ValueError(
            f"{parameter} has shape {labels.shape}, but X has {rows.n_rows} rows: as "
            f"clusters to start from, {wanted}."
        )
    wrong = ~((labels >= 0) & (labels < C) & (labels == np.floor(labels)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{parameter} puts row {row} into cluster {labels[row]:g} "
            f"({np.count_nonzero(wrong)} such rows in all): {wanted}."
        )
    found = labels.astype(np.int32)
    empty = np.bincount(found[rows.weights > 0], minlength=C) == 0
    if empty.any():
        raise ValueError(
            f"{parameter} puts no row of positive weight into cluster "
            f"{int(np.argmax(empty))} ({np.count_nonzero(empty)} such clusters in all):"
            " give every cluster a row, or ask for fewer."
        )
    return found
