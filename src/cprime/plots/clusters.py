"""What do pictures need to know of a fitted estimator?"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.advice.wording import name_columns
from cprime.kernels.tensors import from_gpu
from cprime.plots.tables import as_table
from cprime.theta import variances_of
from cprime.typing import Array


@dataclass(frozen=True)
class Clusters:
    """The clusters of a fit, whatever estimator found them.

    Attributes
    ----------
    means : ndarray of shape (C, D)
    covariance : float or ndarray, or None
        One variance for all; or of shape (C,), (C, D), (C, D, D), or (1, D, D) for all
        alike. None where there is no mixture behind the clusters.
    proportions : ndarray of shape (C,)
        How likely each is before a row is seen.
    names : list of str
        Of the features.
    """

    means: Array
    covariance: Any
    proportions: Array
    names: list[str]

    def variances(self) -> Array:
        """Return the variance of every cluster in every feature, shape (C, D)."""
        values = variances_of(np.asarray(self.covariance, dtype=np.float64))
        if values.ndim == 1:
            values = values[:, None]
        return np.broadcast_to(values, self.means.shape)

    def across(self, directions: Array) -> Array:
        """Return the covariances seen along some directions, shape (C, M, M).

        Parameters
        ----------
        directions : ndarray of shape (M, D)
        """
        C, (M, _) = len(self.means), directions.shape
        values = np.asarray(self.covariance, dtype=np.float64)
        if values.ndim == 3:
            seen = directions @ values @ directions.T
        else:
            variances = self.variances()[:, None, :]
            seen = (directions * variances) @ directions.T
        return np.broadcast_to(seen, (C, M, M))


def clusters_of(estimator: Any) -> Clusters:
    """Return the clusters of a fitted estimator, or say what is missing."""
    means = getattr(estimator, "means_", getattr(estimator, "cluster_centers_", None))
    if means is None:
        raise ValueError(
            f"{type(estimator).__name__} has neither cluster_centers_ nor means_ to "
            "draw: give a fitted estimator (of a pipeline, its last step)."
        )
    means = np.asarray(from_gpu(means), dtype=np.float64)
    C, D = means.shape
    proportions = getattr(estimator, "weights_", np.full(C, 1.0 / C))
    return Clusters(
        means,
        _covariance(estimator),
        np.asarray(from_gpu(proportions), dtype=np.float64),
        name_columns(getattr(estimator, "feature_names_in_", None), D),
    )


def _covariance(estimator: Any) -> Any:
    covariance = getattr(estimator, "covariances_", None)
    if covariance is None:
        return getattr(estimator, "variance_", None)
    # What the parameters are, whatever `covariance_type` was set to since.
    kind = getattr(estimator, "_covariance_type", estimator.covariance_type)
    covariance = np.asarray(from_gpu(covariance), dtype=np.float64)
    return covariance[None] if kind == "tied" else covariance


def require_density(estimator: Any, picture: str) -> None:
    """Raise if there is no mixture behind these clusters."""
    if getattr(estimator, "free_energy_", None) is None:
        fuzzy = hasattr(estimator, "objective_")
        why = (
            "these fuzzy memberships have no mixture behind them, so no density, free "
            "energy or likelihood. Use regularization='entropy', KMeans or SoftKMeans"
            if fuzzy
            else "it has no free_energy_. Give a fitted KMeans, SoftKMeans or "
            "GaussianMixture"
        )
        raise ValueError(f"{picture} cannot draw {type(estimator).__name__}: {why}.")


def shares_of(estimator: Any, X: Any = None) -> Array:
    """Return the share of the rows in every cluster, shape (C,).

    Of X, if given; else the `weights_` of a mixture, or the training rows' labels. A
    k-means that has forgotten those has clusters of equal weight, by its model.
    """
    clusters = clusters_of(estimator)
    if X is not None:
        sizes = sizes_of(estimator, X)
    elif hasattr(estimator, "weights_") or not hasattr(estimator, "labels_"):
        sizes = clusters.proportions
    else:
        sizes = np.bincount(from_gpu(estimator.labels_), minlength=len(clusters.means))
    shares: Array = sizes / sizes.sum()
    return shares


def sizes_of(estimator: Any, X: Any) -> Array:
    """Return how many rows have each label, block by block."""
    sizes = np.zeros(len(clusters_of(estimator).means), dtype=np.int64)
    for _, block in as_table(X, estimator).blocks():
        sizes += np.bincount(ask(estimator.predict, block), minlength=len(sizes))
    return sizes


def ask(method: Any, *arguments: Any, **options: Any) -> Any:
    """Return what an estimator's method says of rows that may have lost their names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return method(*arguments, **options)
