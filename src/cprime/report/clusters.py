"""What do the parameters of a fit say by themselves?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.theta import Coefficients, Theta, variances_of
from cprime.typing import Array


@dataclass(frozen=True)
class Clusters:
    """A fitted mixture, in the units it was fitted in.

    Attributes
    ----------
    theta : Theta
    coefficients : Coefficients
    n_parameters : int
    """

    theta: Theta
    coefficients: Coefficients
    n_parameters: int

    @classmethod
    def of(cls, estimator: Any) -> "Clusters":
        """Return the mixture of an estimator, or say why there is none."""
        name = type(estimator).__name__
        if not hasattr(estimator, "_mixture"):
            raise TypeError(
                f"A report is about a fitted KMeans, SoftKMeans or GaussianMixture of "
                f"cprime, not {name}: from_sklearn() takes one from scikit-learn."
            )
        model, theta = estimator._mixture()
        if not hasattr(estimator, "gap"):
            raise TypeError(
                f"{name} has memberships, but no density: nothing could be said about "
                "what is lost or who is an outlier. Report on a SoftKMeans, which for "
                "a stiffness of 1 / lam_ has the memberships of an entropy, or on a "
                "KMeans."
            )
        return cls(theta, model.coefficients(theta), int(estimator._n_free))

    @property
    def shape(self) -> tuple[int, int]:
        C, D = self.theta.means.shape
        return C, D

    @property
    def are_alike(self) -> bool:
        """Whether all clusters have the same, round shape."""
        return np.ndim(self.theta.covariance) == 0

    @property
    def are_round(self) -> bool:
        """Whether all columns are measured with one yardstick."""
        return np.ndim(self.theta.covariance) < 2

    @property
    def rows_needed(self) -> int:
        """Rows without which a cluster's own covariance cannot be estimated."""
        shape, D = np.shape(self.theta.covariance), self.shape[1]
        own = len(shape) == 3 and shape[0] > 1
        return D + 1 if own else 0

    def proportions(self) -> Array:
        """Return how likely each cluster is before a row is seen, shape (C,)."""
        C = self.shape[0]
        given = self.theta.proportions
        return np.full(C, 1.0 / C) if given is None else given

    def sigmas(self) -> Array:
        """Return one standard deviation for every cluster, shape (C,).

        The geometric mean over all directions, which does not mind units.
        """
        C = self.shape[0]
        W = np.asarray(self.coefficients.whitening)
        if W.ndim == 3:
            log = -np.log(np.abs(np.diagonal(W, axis1=1, axis2=2))).mean(axis=1)
        else:
            log = -np.log(W).mean(axis=1) if W.ndim == 2 else -np.log(W)
        sigmas: Array = np.broadcast_to(np.exp(log), (C,))
        return sigmas

    def spread(self) -> tuple[Array, Array]:
        """Return mean and standard deviation of every column, as the mixture has it."""
        variances = variances_of(self.theta.covariance)
        if variances.ndim == 1:
            variances = variances[:, None]
        share = self.proportions()[:, None]
        mean: Array = (share * self.theta.means).sum(axis=0)
        around = (self.theta.means - mean) ** 2 + variances
        return mean, np.sqrt((share * around).sum(axis=0))

    def squared_distances(self, rows: Array, labels: Array) -> Array:
        """Return every row's squared distance to its cluster, in its own metric.

        They follow a chi-square distribution of D degrees of freedom if the mixture is
        right. Of a row with missing values, what is observed stands for the rest.
        """
        differences = rows - self.theta.means[labels]
        squares = self._whitened(differences, labels) ** 2
        observed = ~np.isnan(squares)
        if observed.all():
            plain: Array = squares.sum(axis=1)
            return plain
        n_observed = np.maximum(observed.sum(axis=1), 1)
        scaled: Array = np.nansum(squares, axis=1) * (squares.shape[1] / n_observed)
        return scaled

    def log_densities(self, distances: Array, labels: Array, shares: Array) -> Array:
        """Return log p(y), from what the row's own cluster has of it."""
        highest: Array = self.coefficients.bias[labels] - 0.5 * distances
        return highest - np.log(shares)

    def nearest(self) -> tuple[Array, Array]:
        """Return every cluster's nearest other, and how many sigmas away it is."""
        C = self.shape[0]
        found, away = np.full(C, -1), np.full(C, np.inf)
        if C == 1:
            return found, away
        for c in range(C):
            differences = self.theta.means - self.theta.means[c]
            seen = self._whitened(differences, np.full(C, c))
            distances = np.sqrt((seen**2).sum(axis=1))
            distances[c] = np.inf
            found[c] = np.argmin(distances)
            away[c] = distances[found[c]]
        return found, away

    def _whitened(self, differences: Array, labels: Array) -> Array:
        W = self.coefficients.whitening
        if np.ndim(W) == 0:
            return differences * W
        if W.ndim == 1:
            return differences * W[labels, None]
        if W.ndim == 2:
            return differences * W[labels]
        if len(W) == 1:
            tied: Array = differences @ W[0].T
            return tied
        seen = np.empty_like(differences)
        order = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[order], np.arange(len(W) + 1))
        for c in np.unique(labels):
            rows = order[starts[c] : starts[c + 1]]
            seen[rows] = differences[rows] @ W[c].T
        return seen
