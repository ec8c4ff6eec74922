"""A mixture of Gaussians along the axes: a variance per cluster and feature."""

from dataclasses import replace

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
        counts = stats.counts[:, None]
        filled = np.where(counts > 0, counts, 1.0)
        found = np.where(counts > 0, scatter / filled, before.covariance)
        clipped: Array = np.maximum(found, self.floor)
        return clipped

    def energy(self, scatter: Array, whitening: Array) -> float:
        return float(np.sum(scatter * whitening * whitening))

    def reseeded(self, theta: Theta, clusters: list[int]) -> Theta:
        covariance = theta.covariance.copy()
        covariance[clusters] = np.delete(covariance, clusters, axis=0).mean(axis=0)
        return replace(theta, covariance=covariance)

    def floored(self, theta: Theta) -> list[int]:
        flat: Array = np.any(theta.covariance <= self.floor, axis=1)
        return np.flatnonzero(flat).tolist()

    def n_covariances(self, C: int, D: int) -> int:
        return C * D
