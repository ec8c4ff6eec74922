"""What may come in as a file, or as anything else that says where rows are."""

import logging
import os
from pathlib import Path
from typing import Any

import numpy as np

from cprime.sources import Data, open_data
from cprime.sources.display import quoted
from cprime.typing import Array

LOG = logging.getLogger("cprime.sources")


def opened(estimator: Any, X: Any, *, reset: bool) -> tuple[Array | Data, Data]:
    """Return the rows of a source, as an array if they fit in memory, and the source.

    Parameters
    ----------
    estimator : estimator
        Remembers the number and names of features if `reset`; otherwise columns with
        the names it knows are taken, and it is an error if there are other ones.
    X : str, path, Data, pyarrow Dataset or Table, or callable
    reset : bool
    """
    known = None if reset else getattr(estimator, "feature_names_in_", None)
    data = open_data(X, None if known is None or _is_nameless(X) else list(known))
    if data.columns.is_guess and not isinstance(X, Data):
        # On standard error, unless the user's program has other plans with its log.
        LOG.warning("%s (An option of cprime.open_data.)", data.columns.decision)
    remember_or_compare(estimator, data, reset=reset)
    return (data.load() if data.in_memory else data), data


def remember_or_compare(estimator: Any, data: Any, *, reset: bool) -> None:
    """Let an estimator remember number and names of columns, or raise if they differ.

    Parameters
    ----------
    estimator : estimator
    data : Data or DaskData
    reset : bool
    """
    if reset:
        _remember(estimator, data)
    else:
        known = getattr(estimator, "feature_names_in_", None)
        _compare(estimator, data, known)


def _is_nameless(X: Any) -> bool:
    """Return whether columns cannot be chosen by name, or were chosen before."""
    if isinstance(X, str | os.PathLike):
        return Path(X).suffix.lower() == ".npy"
    return isinstance(X, Data) or callable(X)


def _remember(estimator: Any, data: Any) -> None:
    estimator.n_features_in_ = data.n_features
    if data.names is not None:
        estimator.feature_names_in_ = np.array(data.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _compare(estimator: Any, data: Any, known: Any) -> None:
    name = type(estimator).__name__
    if data.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {data.n_features} features, but {name} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    if known is not None and data.names is not None and data.names != tuple(known):
        column = next(i for i, n in enumerate(data.names) if n != known[i])
        raise ValueError(
            f"Column {column} of {data.origin} is {quoted(data.names[column])}, but "
            f"{name} was fitted with {quoted(known[column])} there: choose columns in "
            "that order."
        )
