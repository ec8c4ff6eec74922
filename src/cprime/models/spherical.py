"""A mixture of round Gaussians, each with a variance of its own."""

import numpy as np

from cprime.models.gaussian import Gaussian
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array


class Spherical(Gaussian):
    """Sigma_c = sigma_c^2 I. Covariances, scatter and whitening have shape (C,)."""

    def unit(self, C: int, D: int) -> Array:
        return np.ones(C)

    def whitening(self, covariance: Array) -> Array:
        return 1.0 / np.sqrt(covariance)

    def half_log_determinants(self, whitening: Array, C: int, D: int) -> Array:
        logs: Array = D * np.log(whitening)
        return logs

    def product(self, of_clusters: Array, one: Array, other: Array) -> Array:
        sums: Array = of_clusters * np.sum(one * other, axis=1)
        return sums

    def covariance(self, scatter: Array, stats: Stats, before: Theta) -> Array:
        D = before.means.shape[1]
        return self.clipped(self._by_count(scatter / D, stats, before))

    def clipped(self, covariance: Array) -> Array:
        clipped: Array = np.maximum(covariance, np.mean(self.floor))
        return clipped

    def energy(self, scatter: Array, whitening: Array) -> float:
        return float(np.sum(scatter * whitening * whitening))

    def floored(self, theta: Theta) -> list[int]:
        flat: Array = theta.covariance <= np.mean(self.floor)
        return np.flatnonzero(flat).tolist()

    def n_covariances(self, C: int, D: int) -> int:
        return C
