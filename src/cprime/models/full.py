"""A mixture of Gaussians of any form, each with a covariance matrix of its own."""

import numpy as np

from cprime.models.matrix_gaussian import MatrixGaussian
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array


class Full(MatrixGaussian):
    """Covariances, scatter and whitening have shape (C, D, D)."""

    def unit(self, C: int, D: int) -> Array:
        return np.tile(np.eye(D), (C, 1, 1))

    def half_log_determinants(self, whitening: Array, C: int, D: int) -> Array:
        logs: Array = np.log(np.diagonal(whitening, axis1=1, axis2=2)).sum(axis=1)
        return logs

    def product(self, of_clusters: Array, one: Array, other: Array) -> Array:
        return of_clusters[:, None, None] * one[:, :, None] * other[:, None, :]

    def weights(self, stats: Stats) -> Array:
        return stats.counts

    def mean_scatter(self, scatter: Array, stats: Stats, before: Theta) -> Array:
        return self._by_count(scatter, stats, before)

    def floored(self, theta: Theta) -> list[int]:
        return self._clipped_ones(theta)

    def n_covariances(self, C: int, D: int) -> int:
        return C * D * (D + 1) // 2
