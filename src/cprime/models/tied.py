"""A mixture of equal Gaussians of any form: one covariance matrix for all."""

import numpy as np

from cprime.models.matrix_gaussian import MatrixGaussian
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array


class Tied(MatrixGaussian):
    """Sigma_c = Sigma. Covariance, scatter and whitening have shape (1, D, D)."""

    def unit(self, C: int, D: int) -> Array:
        return np.eye(D)[None]

    def half_log_determinants(self, whitening: Array, C: int, D: int) -> Array:
        log: Array = np.log(np.diagonal(whitening[0])).sum()
        return log

    def product(self, of_clusters: Array, one: Array, other: Array) -> Array:
        return ((of_clusters[:, None] * one).T @ other)[None]

    def weights(self, stats: Stats) -> Array:
        return np.array([stats.weight])

    def mean_scatter(self, scatter: Array, stats: Stats, before: Theta) -> Array:
        return scatter / stats.weight

    def reseeded(self, theta: Theta, clusters: list[int]) -> Theta:
        return theta

    def floored(self, theta: Theta) -> list[int]:
        flat = self._clipped_ones(theta)
        return list(range(len(theta.means))) if flat else []

    def n_covariances(self, C: int, D: int) -> int:
        return D * (D + 1) // 2
