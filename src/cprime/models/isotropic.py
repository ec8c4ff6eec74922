"""The paper's mixture: one variance for all clusters, and as a rule equal weights."""

import math
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cprime.models.proportions import log_proportions, proportions
from cprime.stats import Stats, maximized_means, remaining, total_scatter
from cprime.theta import NOTHING, Coefficients, Given, Theta
from cprime.typing import Array


@dataclass(frozen=True)
class Isotropic:
    """p(c) = 1/C and p(y | c) = N(y; mu_c, sigma^2 I) (Eq. 2).

    Parameters
    ----------
    floor : float, optional
        Smallest variance an M-step may choose. Clipping there is still the maximum of
        the free energy over the allowed variances, so F cannot fall.
    variance_init : float, optional
        sigma^2 to start from. By default that of the seeds, J / (D W).
    variance : float, optional
        Hold sigma^2 at this value: soft-k-means of stiffness 1 / (2 sigma^2).
    equal : bool, default=True
        Hold p(c) at 1/C. Otherwise it is learned.
    given : Given
        Parameters to start from.
    """

    floor: float = sys.float_info.min
    variance_init: float | None = None
    variance: float | None = None
    equal: bool = True
    given: Given = NOTHING

    def unit_theta(self, means: Array) -> Theta:
        return Theta(means, 1.0)

    def start(self, means: Array, stats: Stats) -> Theta:
        theta = self._with_scatter(stats.scatter, stats, self.unit_theta(means))
        if self.variance_init is not None and self.variance is None:
            theta = Theta(means, max(self.variance_init, self.floor))
        return self.given.over(theta)

    def coefficients(self, theta: Theta) -> Coefficients:
        C, D = theta.means.shape
        of_one = -0.5 * D * math.log(2.0 * math.pi * theta.covariance)
        if theta.proportions is None:
            bias = np.full(C, of_one - math.log(C))
        else:
            bias = of_one + log_proportions(theta.proportions)
        return Coefficients(bias, theta.means, 1.0 / math.sqrt(theta.covariance))

    def maximize(self, stats: Stats, about: Theta) -> Theta:
        """Return mu = sum q y / sum q and sigma^2 = sum q ||y - mu||^2 / (D W) (Eq. 6).

        A cluster without rows keeps its mean.
        """
        means = maximized_means(stats, about)
        shares = None if self.equal else proportions(stats)
        theta = Theta(means, about.covariance, shares)
        scatter = total_scatter(theta, stats, about)
        theta = self._with_scatter(scatter, stats, theta)
        theta.once("_step", lambda: (stats, scatter))
        return theta

    def finalize(self, stats: Stats, about: Theta, C_prime: int) -> Theta:
        """Return the sigma^2 of the labels and means of this very sweep, at C' = 1.

        Labels of equal clusters do not depend on it, and F is the closed form of Prop.
        3 even when a fit was cut short.
        """
        if C_prime == 1 and about.has_equal_clusters:
            return self._with_scatter(stats.scatter, stats, about)
        return about

    def allowed(self, theta: Theta) -> Theta:
        """Return theta with a variance that this model may have."""
        variance = max(theta.covariance, self.floor)
        return replace(
            theta, covariance=variance if self.variance is None else self.variance
        )

    def reseeded(self, theta: Theta, clusters: list[int]) -> Theta:
        return theta

    def remaining(self, scatter: Any, taken: Any) -> Any:
        return float(remaining(scatter, taken))

    def scatter(self, theta: Theta, stats: Stats, about: Theta) -> float:
        # F is asked for where the M-step has just been.
        step = theta.noted("_step")
        if step is not None and step[0] is stats:
            return float(step[1])
        return total_scatter(theta, stats, about)

    def free_energy(self, theta: Theta, stats: Stats, about: Theta) -> float:
        """Return <log p(y, c | theta)>_q + H(q), for any theta."""
        bias = self.coefficients(theta).bias
        scatter = self.scatter(theta, stats, about)
        energy = 0.5 * scatter / theta.covariance
        expected = float(bias[0])
        if theta.proportions is not None:
            expected = float(np.sum(stats.counts * bias)) / stats.weight
        return float(expected - (energy - stats.entropy) / stats.weight)

    def floored(self, theta: Theta) -> list[int]:
        every = list(range(len(theta.means)))
        return every if theta.covariance <= self.floor else []

    def n_parameters(self, C: int, D: int) -> int:
        return C * D + (self.variance is None) + (0 if self.equal else C - 1)

    def _with_scatter(self, scatter: float, stats: Stats, theta: Theta) -> Theta:
        if self.variance is not None:
            return Theta(theta.means, self.variance, theta.proportions)
        D = theta.means.shape[1]
        variance = scatter / (D * stats.weight)
        variance = max(variance, self.floor)
        return Theta(theta.means, variance, theta.proportions)
