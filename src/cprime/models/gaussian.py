"""What all mixtures of general Gaussians have in common (Supplement C)."""

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cprime.blas import one_thread
from cprime.models.proportions import log_proportions, proportions
from cprime.stats import Stats, maximized_means, remaining
from cprime.theta import NOTHING, Coefficients, Given, Theta
from cprime.typing import Array


@dataclass(frozen=True)
class Gaussian(ABC):
    """p(c) = pi_c and p(y | c) = N(y; mu_c, Sigma_c).

    Subclasses say in which shape the covariances come. Clipping them at the floor is
    still the maximum of the free energy over the allowed covariances, so F cannot fall.

    Parameters
    ----------
    floor : ndarray of shape (D,), or float
        Smallest variance of every feature an M-step may choose; of matrices smallest
        eigenvalue, where features are measured in units of the floor.
    equal : bool, default=False
        Hold pi_c = 1/C.
    given : Given
        Parameters to start from, in place of those of a hard assignment.
    """

    floor: Any = sys.float_info.min
    equal: bool = False
    given: Given = NOTHING

    @abstractmethod
    def unit(self, C: int, D: int) -> Array:
        """Return covariances of unit variance."""

    @abstractmethod
    def whitening(self, covariance: Array) -> Array:
        """Return W with W^T W = Sigma^-1, in the shape kernels read."""

    def whitening_of(self, theta: Theta) -> Array:
        """Return the whitening of these parameters, computed once."""
        found: Array = theta.once(
            "_whitening", lambda: self.whitening(theta.covariance)
        )
        return found

    @abstractmethod
    def half_log_determinants(self, whitening: Array, C: int, D: int) -> Array:
        """Return log |W_c| of every cluster, shape (C,) or ()."""

    @abstractmethod
    def product(self, of_clusters: Array, one: Array, other: Array) -> Array:
        """Return sum_c n_c a_c b_c^T in the shape of a scatter, n_c being given.

        Parameters
        ----------
        of_clusters : ndarray of shape (C,)
        one, other : ndarray of shape (C, D)
        """

    @abstractmethod
    def covariance(self, scatter: Array, stats: Stats, before: Theta) -> Array:
        """Return scatter by count, not below the floor; a cluster of none keeps its."""

    @abstractmethod
    def clipped(self, covariance: Array) -> Array:
        """Return covariances that are not below the floor."""

    @abstractmethod
    def energy(self, scatter: Array, whitening: Array) -> float:
        """Return sum_c trace(Sigma_c^-1 scatter_c)."""

    @abstractmethod
    def n_covariances(self, C: int, D: int) -> int:
        """Return how many numbers the covariances are."""

    def unit_theta(self, means: Array) -> Theta:
        return Theta(means, self.unit(*means.shape))

    @one_thread()
    def start(self, means: Array, stats: Stats) -> Theta:
        return self.given.over(self.maximize(stats, about=self.unit_theta(means)))

    def coefficients(self, theta: Theta) -> Coefficients:
        found: Coefficients = theta.once(
            f"_coefficients of {type(self).__name__}",
            lambda: self._coefficients(theta),
        )
        return found

    @one_thread()
    def _coefficients(self, theta: Theta) -> Coefficients:
        C, D = theta.means.shape
        whitening = self.whitening_of(theta)
        bias = np.full(C, -math.log(C) - 0.5 * D * math.log(2.0 * math.pi))
        bias += self.half_log_determinants(whitening, C, D)
        if theta.proportions is not None:
            bias += log_proportions(theta.proportions) + math.log(C)
        return Coefficients(bias, theta.means, whitening)

    @one_thread()
    def maximize(self, stats: Stats, about: Theta) -> Theta:
        """Return mu = sum q y / sum q, Sigma = sum q (y - mu)(y - mu)^T / sum q, pi."""
        shares = None if self.equal else proportions(stats)
        means = maximized_means(stats, about)
        theta = replace(about, means=means, proportions=shares)
        scatter = self.scatter(theta, stats, about)
        return self.with_covariance(theta, scatter, stats, about)

    def with_covariance(
        self, theta: Theta, scatter: Array, stats: Stats, before: Theta
    ) -> Theta:
        """Return theta with the covariances of this scatter."""
        return replace(theta, covariance=self.covariance(scatter, stats, before))

    def finalize(self, stats: Stats, about: Theta, C_prime: int) -> Theta:
        # Which clusters a row keeps depends on the covariances: they stay.
        return about

    def allowed(self, theta: Theta) -> Theta:
        return replace(theta, covariance=self.clipped(theta.covariance))

    def reseeded(self, theta: Theta, clusters: list[int]) -> Theta:
        """Return the same with the mean covariance of the others for these clusters."""
        if not clusters:
            return theta
        covariance = theta.covariance.copy()
        covariance[clusters] = np.delete(covariance, clusters, axis=0).mean(axis=0)
        return replace(theta, covariance=covariance)

    def remaining(self, scatter: Any, taken: Any) -> Any:
        return remaining(scatter, taken)

    def scatter(self, theta: Theta, stats: Stats, about: Theta) -> Array:
        """Return the scatter about theta's means, from sums about other means.

        sum q (y - mu')(y - mu')^T = S - s d^T - d s^T + n d d^T with d = mu' - mu.
        """
        step = theta.means - about.means
        ones = np.ones(len(step))
        crossed = self.product(ones, stats.shifts, step)
        crossed = crossed + self.product(ones, step, stats.shifts)
        taken = crossed - self.product(stats.counts, step, step)
        left: Array = self.remaining(stats.scatter, taken)
        return left

    @one_thread()
    def free_energy(self, theta: Theta, stats: Stats, about: Theta) -> float:
        """Return <log p(y, c | theta)>_q + H(q), for any theta."""
        scatter = self.scatter(theta, stats, about)
        return self._expected(self.coefficients(theta), scatter, stats)

    def _expected(
        self, coefficients: Coefficients, scatter: Array, stats: Stats
    ) -> float:
        energy = 0.5 * self.energy(scatter, coefficients.whitening)
        expected = float(np.sum(stats.counts * coefficients.bias)) - energy
        return (expected + stats.entropy) / stats.weight

    def n_parameters(self, C: int, D: int) -> int:
        return C * D + self.n_covariances(C, D) + (0 if self.equal else C - 1)

    def _by_count(self, scatter: Array, stats: Stats, before: Theta) -> Array:
        """Return the scatter of each cluster by its count; one of none keeps its."""
        counts = stats.counts.reshape(-1, *(1,) * (scatter.ndim - 1))
        filled = np.where(counts > 0, counts, 1.0)
        return np.where(counts > 0, scatter / filled, before.covariance)
