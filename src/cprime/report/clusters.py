"""What do the parameters of a fit say by themselves?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.overlap import bhattacharyya_distances, closest
from cprime.plots.clusters import Clusters, clusters_of
from cprime.typing import Array


@dataclass(frozen=True)
class Fitted:
    """A fitted mixture, in the units it was fitted in.

    Attributes
    ----------
    estimator : fitted estimator
    clusters : Clusters
    overlaps : ndarray of shape (C, C)
        From 0 to 1: see `cprime.overlap`.
    nearest : ndarray of shape (C,)
        The cluster each overlaps most with; -1 if there is no other.
    choice : fitted AutoMixture, optional
        Where it comes from.
    """

    estimator: Any
    clusters: Clusters
    overlaps: Array
    nearest: Array
    choice: Any = None

    @classmethod
    def of(cls, estimator: Any) -> "Fitted":
        """Return the mixture of an estimator, or say why there is none."""
        choice = None
        if hasattr(estimator, "best_estimator_"):
            choice, estimator = estimator, estimator.best_estimator_
        name = type(estimator).__name__
        if not hasattr(estimator, "_mixture"):
            raise TypeError(
                f"A report is about a fitted KMeans, SoftKMeans or GaussianMixture of "
                f"cprime, not {name}: from_sklearn() takes one from scikit-learn."
            )
        if not hasattr(estimator, "gap"):
            raise TypeError(
                f"{name} has memberships but no density, so nothing can be said about "
                "what is lost or who is an outlier. Report on a SoftKMeans, which for "
                "stiffness=1 / lam has the memberships of an entropy, or on a KMeans."
            )
        # Says what to do if there was no fit.
        estimator._mixture()
        clusters = clusters_of(estimator)
        distances = bhattacharyya_distances(clusters.means, clusters.covariance)
        overlaps = np.exp(-distances)
        return cls(estimator, clusters, overlaps, closest(distances), choice)

    @property
    def shape(self) -> tuple[int, int]:
        C, D = self.clusters.means.shape
        return C, D

    @property
    def C_prime(self) -> int:
        return int(self.estimator._C_prime)

    @property
    def are_alike(self) -> bool:
        """Whether all clusters have the same, round shape."""
        return np.ndim(self.clusters.covariance) == 0

    @property
    def are_round(self) -> bool:
        """Whether all columns are measured with one yardstick."""
        return np.ndim(self.clusters.covariance) < 2

    @property
    def rows_needed(self) -> int:
        """Rows without which a cluster's own covariance cannot be estimated."""
        shape, D = np.shape(self.clusters.covariance), self.shape[1]
        own = len(shape) == 3 and shape[0] > 1
        return D + 1 if own else 0

    def overlap(self) -> Array:
        """Return how much each cluster overlaps with its nearest, shape (C,)."""
        C = len(self.nearest)
        if C == 1:
            return np.zeros(1)
        with_nearest: Array = self.overlaps[np.arange(C), self.nearest]
        return with_nearest

    def sigmas(self) -> Array:
        """Return one standard deviation for every cluster, shape (C,).

        The geometric mean over all directions, which does not mind units.
        """
        covariance = np.asarray(self.clusters.covariance, dtype=np.float64)
        if covariance.ndim == 3:
            logarithms = np.linalg.slogdet(covariance)[1] / covariance.shape[1]
        else:
            logarithms = np.log(covariance)
            if covariance.ndim == 2:
                logarithms = logarithms.mean(axis=1)
        sigmas: Array = np.broadcast_to(np.exp(0.5 * logarithms), (self.shape[0],))
        return sigmas
