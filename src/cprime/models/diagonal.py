"""A mixture of Gaussians along the axes: a variance per cluster and feature."""

import numpy as np

from cprime.models.gaussian import Gaussian
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array


class Diagonal(Gaussian):
    """Sigma_c is diagonal. Covariances, scatter and whitening have shape (C, D)."""

    def unit(self, C: int, D: int) -> Array:
        return np.ones((C, D))

    def whitening(self, covariance: Array) -> Array:
        return 1.0 / np.sqrt(covariance)

    def half_log_determinants(self, whitening: Array, C: int, D: int) -> Array:
        logs: Array = np.log(whitening).sum(axis=1)
        return logs

    def product(self, of_clusters: Array, one: Array, other: Array) -> Array:
        sums: Array = of_clusters[:, None] * one * other
        return sums

    def covariance(self, scatter: Array, stats: Stats, before: Theta) -> Array:
        return self.clipped(self._by_count(scatter, stats, before))

    def clipped(self, covariance: Array) -> Array:
        clipped: Array = np.maximum(covariance, self.floor)
        return clipped

    def energy(self, scatter: Array, whitening: Array) -> float:
        return float(np.sum(scatter * whitening * whitening))

    def floored(self, theta: Theta) -> list[int]:
        flat: Array = np.any(theta.covariance <= self.floor, axis=1)
        return np.flatnonzero(flat).tolist()

    def n_covariances(self, C: int, D: int) -> int:
        return C * D
