"""What may come in through a door, and what to tell the user when it may not."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from cprime.blocks import Elsewhere
from cprime.checking import tables, tensors
from cprime.checking.files import opened
from cprime.kernels.native import magnitude as largest_of
from cprime.kernels.tensors import is_on_gpu
from cprime.rows import is_dask_data
from cprime.sources import Data, is_dask, is_source
from cprime.sources.display import LONGEST_REASON, LONGEST_TEXT, quoted, short
from cprime.sources.sparse import canonical, sound
from cprime.theta import Theta, variances_of
from cprime.typing import Array


def checked_data(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    sparse: bool = True,
    missing: bool = False,
    stays: bool = False,
) -> Any:
    """Return X as finite float32 or float64, dense or CSR, or say what is wrong.

    Parameters
    ----------
    estimator : estimator
        Remembers the number and names of features if `reset`, or compares them.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features), or source
        A file comes back as an array if it fits in memory, otherwise as `Data`. A Dask
        collection comes back as `DaskData`, whose rows are looked at now if `reset`,
        else when they are evaluated.
    reset : bool
    sparse : bool, default=True
        Whether sparse rows are welcome.
    missing : bool, default=False
        Whether values may be missing, that is NaN.
    stays : bool, default=False
        Whether a tensor on a GPU is welcome: it comes back as `Elsewhere`.
    """
    is_plain = type(X) is np.ndarray and X.dtype.kind in tables.REAL
    if not is_plain and is_source(X):
        X, data = opened(estimator, X, reset=reset)
        if missing and not isinstance(X, np.ndarray):
            raise ValueError(
                "missing='marginalize' needs all rows in memory, and those of "
                f"{X.origin} do not fit: allow more, or impute missing values first."
            )
        refuse_wild(estimator, X, missing, data.place_of)
        return X
    if not is_plain and (is_dask(X) or is_dask_data(X)):
        from cprime.checking import collections

        return collections.checked(estimator, X, reset=reset, missing=missing)
    if is_on_gpu(X):
        X = tensors.checked(estimator, X, reset=reset, stays=stays)
        refuse_wild(estimator, X, missing)
        return X
    if sp.issparse(X):
        # scikit-learn lets scipy convert it, which believes whatever is inside.
        X = sound(X)
    elif not is_plain:
        X = tables.in_host_memory(X)
        tables.refuse_other_than_numbers(X)
    if is_plain and reset and _needs_nothing(X):
        _remember_features(estimator, X)
    else:
        X = _validated(estimator, X, reset, sparse)
    refuse_wild(estimator, X, missing)
    return X


def refuse_collection(estimator: Any, X: Any) -> None:
    """Raise if X is a Dask collection, for an estimator that needs rows in memory."""
    if is_dask(X):
        raise TypeError(
            f"{type(estimator).__name__} needs all rows in memory, and X is a Dask "
            "collection: give a sample of it, for example X[::100].compute(), or fit a "
            "KMeans or GaussianMixture, which take all of it."
        )


def width(X: Any) -> int:
    """Return how many features checked rows have; they are not counted for it."""
    return int(X.n_features if hasattr(X, "n_features") else X.shape[1])


def _needs_nothing(X: Array) -> bool:
    """Return whether scikit-learn would give back an array as it is."""
    is_float = X.dtype in (np.float64, np.float32)
    return is_float and X.ndim == 2 and X.size > 0 and X.flags.c_contiguous


def _remember_features(estimator: Any, X: Array) -> None:
    """Set what scikit-learn sets of the columns of an array, which have no names."""
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    estimator.n_features_in_ = X.shape[1]


def _validated(estimator: Any, X: Any, reset: bool, sparse: bool) -> Any:
    with np.errstate(over="ignore"), _short_messages():
        # A long double beyond float64 becomes infinite here and is reported below.
        X = validate_data(
            estimator,
            X,
            accept_sparse="csr" if sparse else False,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            reset=reset,
        )
    return canonical(X) if sp.issparse(X) else X


def checked_means(init: Any, n_clusters: int, X: Any) -> Array:
    """Return given centres in the dtype of X, or say what is wrong with them."""
    given = tables.numbers(tables.dense(init, "init"), "init")
    if given.shape[:1] != (n_clusters,) or given.ndim != 2:
        in_one = " To start from the cluster of every row, give them in one dimension."
        raise ValueError(
            f"The shape of the initial centers {given.shape} does not "
            f"match the number of clusters {n_clusters}."
            + (in_one if given.size == X.shape[0] else "")
        )
    if given.shape[1] != X.shape[1]:
        raise ValueError(
            f"The shape of the initial centers {given.shape} does not "
            f"match the number of features of the data {X.shape[1]}."
        )
    with np.errstate(over="ignore"):
        means = np.array(given, dtype=X.dtype, order="C")
    if not np.isfinite(means).all():
        row, column = np.argwhere(~np.isfinite(means))[0]
        raise ValueError(
            f"init holds {given[row, column]} at row {row}, column {column}: "
            f"initial centers must be finite in {X.dtype}, as X is."
        )
    return means


def checked_c_prime(c_prime: Any, C: int, name: str = "n_clusters") -> int:
    """Return c_prime if that many clusters can be kept, of as many as `name` says."""
    if not isinstance(c_prime, Integral) or not 1 <= int(c_prime) <= C:
        raise ValueError(
            f"c_prime={c_prime!r} should be a whole number from 1 to {name}={C} (EM): "
            "every row keeps that many of its closest clusters."
        )
    return int(c_prime)


def refuse_impossible(theta: Theta) -> None:
    """Raise if parameters a user has set by hand cannot be those of clusters."""
    if theta.means.ndim != 2 or not theta.means.size:
        raise ValueError(
            f"The means of this estimator have shape {theta.means.shape}: clusters by "
            "features are needed."
        )
    proportions = np.ones(1) if theta.proportions is None else theta.proportions
    for what, values in (
        ("means", theta.means),
        ("covariances", theta.covariance),
        ("weights", proportions),
    ):
        if not np.isfinite(values).all():
            raise ValueError(
                f"The {what} of this estimator hold NaN or infinity: fit it again, or "
                "set them to numbers."
            )
    if not (np.all(variances_of(theta.covariance) > 0.0) and np.all(proportions >= 0)):
        raise ValueError(
            "Some variances of this estimator are not positive, or some weights are "
            "negative: fit it again, or set valid ones."
        )


def largest(X: Any) -> float:
    """Return the largest absolute value in X; inf or nan if there is one."""
    return X.largest if _is_elsewhere(X) else largest_of(_stored(X))


def magnitude(X: Any) -> float:
    """Return the largest absolute value in X, inf included, of those not missing."""
    if _is_elsewhere(X):
        return float(X.largest)
    values = _stored(X)
    found = largest_of(values)
    if math.isnan(found):
        found = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    return found


def has_missing(X: Any) -> bool:
    """Return whether any value of X, which holds no infinity, is NaN."""
    return math.isnan(largest(X))


def column(estimator: Any, index: int) -> str:
    """Return what to call a column of X: its number, and its name if it has one."""
    names = getattr(estimator, "feature_names_in_", None)
    return f"column {index}" + ("" if names is None else f" ({quoted(names[index])})")


def first(X: Any, where: Any) -> tuple[int, int, float, int]:
    """Return row, column and value of the first hit, and the number of hits."""
    if _is_elsewhere(X):
        found: tuple[int, int, float, int] = X.first(where)
        return found
    if sp.issparse(X):
        hits = np.flatnonzero(where(X.data))
        row = int(np.searchsorted(X.indptr, hits[0], side="right")) - 1
        return row, int(X.indices[hits[0]]), float(X.data[hits[0]]), len(hits)
    places = np.argwhere(where(X))
    row, column = (int(i) for i in places[0])
    return row, column, float(X[row, column]), len(places)


def _is_elsewhere(X: Any) -> bool:
    """Return whether rows are somewhere that knows of them what there is to know."""
    return isinstance(X, Data | Elsewhere) or is_dask_data(X)


def _stored(X: Any) -> Array:
    values: Array = X.data if sp.issparse(X) else X
    return values


def refuse_wild(
    estimator: Any, X: Any, missing: bool, place_of: Callable[[int], str] | None = None
) -> None:
    """Raise if X holds infinity, or NaN that is not welcome."""
    found = magnitude(X) if missing else largest(X)
    if not math.isfinite(found):
        _refuse_not_finite(estimator, X, missing, place_of or "row {}".format)


def _refuse_not_finite(
    estimator: Any, X: Any, missing: bool, place_of: Callable[[int], str]
) -> None:
    wrong = np.isinf if missing else lambda values: ~np.isfinite(values)
    row, place, value, count = first(X, wrong)
    remedy = "drop those rows or impute them first"
    if math.isnan(value) and hasattr(estimator, "missing"):
        remedy += ", or set missing='marginalize'"
    raise ValueError(
        f"Input X contains {'NaN' if math.isnan(value) else 'infinity'} at "
        f"{place_of(row)}, {column(estimator, place)}; "
        f"{count} {'value is' if count == 1 else 'values are'} "
        f"{'' if missing else 'NaN or '}infinite in all. {type(estimator).__name__} "
        f"needs finite numbers: {remedy}."
    )


@contextmanager
def _short_messages() -> Iterator[None]:
    """Shorten what scikit-learn says of columns, whose names may be very long."""
    try:
        yield
    except ValueError as error:
        lines = str(error).splitlines()
        if all(len(line) <= LONGEST_TEXT for line in lines):
            raise
        said = "\n".join(short(line, LONGEST_REASON) for line in lines)
        raise ValueError(said) from None
