"""What may come in as a Dask collection, and as weights of its rows?"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from cprime.checking import inputs, sample_weights
from cprime.checking.files import remember_or_compare
from cprime.rows import is_dask_data
from cprime.sources import is_dask
from cprime.sources.chunks import Check
from cprime.sources.cluster import results, started, task
from cprime.sources.collection import DaskData
from cprime.sources.collection_weights import DaskWeights
from cprime.sources.display import quoted
from cprime.sources.pieces import column_chunks, joined
from cprime.typing import Array

REAL = "fiub"


def checked(estimator: Any, X: Any, *, reset: bool, missing: bool) -> DaskData:
    """Return a Dask array or DataFrame of numbers, or say what is wrong.

    Parameters
    ----------
    estimator : estimator
        Remembers the number and names of features if `reset`, or compares them.
    X : dask Array or DataFrame, or DaskData
    reset : bool
        Whether values are looked at now. Otherwise they are when they are evaluated.
    missing : bool
        Whether a user wants values to be missing.
    """
    if missing:
        raise ValueError(
            "missing='marginalize' needs all rows in memory, and X is a Dask "
            "collection: impute missing values first."
        )
    if is_dask_data(X):
        remember_or_compare(estimator, X, reset=reset)
        data = X
    else:
        data = _collection(estimator, X, reset)
    if reset:
        inputs.refuse_wild(estimator, data, missing)
        return data
    of = [inputs.column(estimator, i) for i in range(data.n_features)]
    data.checks.append(_finite_check(type(estimator).__name__, of))
    return data


def _collection(estimator: Any, X: Any, reset: bool) -> DaskData:
    """Return the rows of a collection of Dask's own, of features that were checked."""
    _refuse_other_than_numbers(X)
    known = X._meta if hasattr(X, "columns") else np.empty((0, X.shape[1]))
    validate_data(estimator, known, reset=reset, skip_check_array=True)
    return DaskData(X)


def _refuse_other_than_numbers(X: Any) -> None:
    """Raise if a collection is no table, or has something else in it."""
    if X.ndim != 2:
        raise ValueError(
            f"X is a Dask collection of {X.ndim} dimension(s): rows by features are "
            "needed, shape (n_samples, n_features)."
        )
    if hasattr(X, "columns"):
        for position, (name, dtype) in enumerate(zip(X.columns, X.dtypes)):
            if dtype.kind not in REAL:
                raise TypeError(
                    f"X holds {dtype} in column {position} ({quoted(str(name))}), not "
                    "numbers: drop the column, or convert it with "
                    "X.astype({...: float})."
                )
    elif X.dtype.kind not in REAL:
        raise TypeError(f"X is a Dask array of {X.dtype}, not of numbers.")


def _finite_check(what: str, columns: list[str]) -> Check:
    """Return what raises if a chunk, wherever it is, holds NaN or infinity.

    Parameters
    ----------
    what : str
        Who needs finite numbers.
    columns : list of str
        What they are called.
    """

    def check(values: Array, place_of: Callable[[int], str]) -> None:
        wrong = ~np.isfinite(values)
        if not wrong.any():
            return
        row, place = (int(i) for i in np.argwhere(wrong)[0])
        value = "NaN" if np.isnan(values[row, place]) else "infinity"
        raise ValueError(
            f"Input X contains {value} at {place_of(row)}, {columns[place]}; "
            f"{wrong.sum()} value(s) of its chunk are NaN or infinite. {what} needs "
            "finite numbers: drop those rows or impute them first."
        )

    return check


def checked_weights(sample_weight: Any, data: DaskData) -> DaskWeights:
    """Return a weight for every row, or say which row's weight is wrong.

    Parameters
    ----------
    sample_weight : dask Array or Series, array-like of shape (n_samples,), or None
    data : DaskData
    """
    if sample_weight is None:
        return DaskWeights()
    if not is_dask(sample_weight):
        given = sample_weights.checked_weights(sample_weight, data.n_rows)
        # One by one: no task takes those of all rows with it.
        tasks = started([task(np.array, given[place]) for place in data.places])
        return DaskWeights(tuple(tasks), float(given.max()), bool(given.all()))
    if sample_weight.ndim != 1:
        raise ValueError(
            f"sample_weight is a Dask collection of {sample_weight.ndim} dimensions: "
            "give one weight per row."
        )
    chunks, lengths = column_chunks(sample_weight)
    if sum(lengths) != data.n_rows:
        raise ValueError(
            f"sample_weight has {sum(lengths)} entries, but X has {data.n_rows} rows: "
            "give one weight per row."
        )
    tasks = started(joined(chunks, lengths, data.places))
    found = results([task(_extremes, part) for part in tasks])
    for i, (wrong, value, count, _, _) in enumerate(found):
        if count:
            total = sum(of_block[2] for of_block in found)
            problem = "negative" if value < 0 else "not a finite number"
            raise ValueError(
                f"sample_weight of row {data.places[i].start + wrong} is {value}, "
                f"which is {problem} ({total} such rows in all)."
            )
    lowest, highest = (of(column) for of, column in zip((min, max), _last_two(found)))
    if highest == 0.0:
        raise ValueError("All sample_weight are zero: no row is left.")
    return DaskWeights(tuple(tasks), highest, lowest > 0.0)


def _last_two(found: list[Any]) -> tuple[list[float], list[float]]:
    return [of[3] for of in found], [of[4] for of in found]


def _extremes(weights: Array) -> tuple[int, float, int, float, float]:
    """Return the first wrong weight, how many there are, the lowest and the highest."""
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    row = int(np.argmax(wrong))
    count = int(np.count_nonzero(wrong))
    return row, float(weights[row]), count, float(weights.min()), float(weights.max())
