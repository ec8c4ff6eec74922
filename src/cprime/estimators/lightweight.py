"""`coreset`: few weighted rows in place of all."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from cprime.checking import inputs, sample_weights
from cprime.checking.random_numbers import checked_random_state, next_generator
from cprime.checking.units import Units
from cprime.coresets import lightweight_coreset
from cprime.kernels import get_kernel
from cprime.typing import Array


class Coreset(NamedTuple):
    """Rows that stand for many.

    Attributes
    ----------
    rows : ndarray of shape (at most m, n_features)
    weights : ndarray of shape (at most m,)
        How many rows each stands for: give it to `fit` as `sample_weight`.
    """

    rows: Array
    weights: Array


class LightweightCoreset(BaseEstimator):
    """What messages name, as if it were an estimator."""


def coreset(
    X: Any, m: int, *, sample_weight: Any = None, random_state: Any = None
) -> Coreset:
    """Draw few weighted rows on which a fit is nearly that of all rows.

    A lightweight coreset: rows are drawn half evenly and half by their squared distance
    to the mean, so that those far out, which cost k-means most, are not missed as in a
    uniform sample. Weighted sums over it are in expectation those over all rows. With
    high probability the objective of k-means differs, for any C means at once, by at
    most ``eps / 2`` times the sum of what it is for all rows and what it is for one
    cluster, with an eps that shrinks as ``1 / sqrt(m)``.

    It takes four passes over the rows, in memory or in a file, however many clusters
    are then looked for.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), path, or Data
    m : int
        How many rows are drawn. One that is drawn several times comes once.
    sample_weight : array-like of shape (n_samples,), optional
        A weight of 2 is the same as giving the row twice, 0 as leaving it out.
    random_state : int, RandomState instance or None, default=None
        Which rows are drawn does not depend on their order.

    Returns
    -------
    coreset : Coreset
        `rows` and `weights`.

    References
    ----------
    O. Bachem, M. Lucic and A. Krause, "Scalable k-means clustering via lightweight
    coresets", KDD 2018.

    Examples
    --------
    >>> import cprime
    >>> X = cprime.datasets.make_birch_grid(rng=0).data
    >>> rows, weights = cprime.coreset(X, 400, random_state=0)
    >>> kmeans = cprime.KMeans(25, random_state=0).fit(rows, sample_weight=weights)
    """
    if not isinstance(m, Integral) or isinstance(m, bool) or m < 1:
        raise ValueError(f"m is the number of rows to draw, 1 or more, not {m!r}.")
    X = inputs.checked_data(LightweightCoreset(), X, reset=True)
    weights = sample_weights.weights_of(sample_weight, X)
    units = Units.of_rows(X, weights)
    rows = units.rows(X, weights)
    rng = next_generator(checked_random_state(random_state))
    values, masses = lightweight_coreset(rows, int(m), get_kernel("auto"), rng)
    return Coreset(
        units.means_out(values).astype(X.dtype),
        np.asarray(masses / units.weight_scale),
    )
