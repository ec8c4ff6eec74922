"""How far is a row from its own cluster, and how far would be usual?

In units of the cluster: the squared Mahalanobis distance, which for rows of a Gaussian
cluster is distributed as chi-square with D degrees of freedom.
"""

import math
from typing import Any

import numpy as np
from scipy.special import gammainc, gammaincinv

from cprime.models.matrices import whitening
from cprime.plots.clusters import Clusters, ask, clusters_of
from cprime.plots.tables import values_of
from cprime.typing import Array

# A tally has so many bins up to its limit, and as many for every further factor of 2.
BINS = 1024
DOUBLINGS = 40


def squared_distances(estimator: Any, block: Any) -> Array:
    """Return the squared Mahalanobis distance of rows to the cluster of their label.

    Parameters
    ----------
    estimator : fitted estimator with a variance or covariances
    block : rows
        All of them, or some at a time.

    Returns
    -------
    squared : ndarray of shape (n_rows,)
        NaN where some value of the row is missing.
    """
    clusters = clusters_of(estimator)
    if clusters.covariance is None:
        raise ValueError(
            f"{type(estimator).__name__} knows centres, but no variance, so nothing "
            "says how far from a centre is usual: use KMeans, SoftKMeans or "
            "GaussianMixture."
        )
    labels = ask(estimator.predict, block)
    return distances_to(clusters, labels, values_of(block))


def distances_to(clusters: Clusters, labels: Array, values: Array) -> Array:
    """Return the same for rows whose labels are known, shape (n_rows,)."""
    apart = values - clusters.means[labels]
    covariance = np.asarray(clusters.covariance, dtype=np.float64)
    if covariance.ndim < 3:
        apart /= np.sqrt(clusters.variances()[labels])
    elif len(covariance) == 1:
        apart = apart @ whitening(covariance)[0].T
    else:
        factors = whitening(covariance)
        for c in np.unique(labels):
            apart[labels == c] = apart[labels == c] @ factors[c].T
    squared: Array = (apart**2).sum(axis=1)
    return squared


def usual_limit(n_features: int, share: float = 0.999) -> float:
    """Return the squared distance this share of the rows stays within."""
    return float(2.0 * gammaincinv(0.5 * n_features, share))


def usual_share(squared: Array, n_features: int) -> Array:
    """Return which share of the rows of a Gaussian stays within squared distances."""
    share: Array = gammainc(0.5 * n_features, 0.5 * squared)
    return share


class DistanceTally:
    """Counts squared distances as they come, in memory that does not grow.

    How many are beyond the limit is exact; the others are known to a thousandth of it.

    Parameters
    ----------
    limit : float
        A squared distance: `usual_limit`.

    Attributes
    ----------
    missing : int
        Rows without a distance, as some value of theirs is not known.
    """

    def __init__(self, limit: float):
        within = np.linspace(0.0, 1.0, BINS + 1)
        beyond = np.exp2(np.arange(1, DOUBLINGS * BINS + 1) / BINS)
        self._edges = math.sqrt(limit) * np.concatenate([within, beyond])
        # So that a distance at the limit is within it, however roots are rounded.
        self._edges[BINS] = np.nextafter(math.sqrt(limit), np.inf)
        self._counts = np.zeros(len(self._edges), dtype=np.int64)
        self.missing = 0

    def add(self, squared: Array) -> None:
        """Count some more."""
        known = squared[~np.isnan(squared)]
        self.missing += len(squared) - len(known)
        bins = np.searchsorted(self._edges, np.sqrt(known), side="right") - 1
        self._counts += np.bincount(bins, minlength=len(self._counts))

    def counted(self) -> tuple[Array, Array]:
        """Return squared distances, and how many rows each stands for."""
        some = np.flatnonzero(self._counts)
        upper = np.append(self._edges[1:], self._edges[-1])[some]
        return (0.5 * (self._edges[some] + upper)) ** 2, self._counts[some]
