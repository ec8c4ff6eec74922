"""Clusters that are nothing but centres: rows pay for their squared distances."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cprime.stats import Stats, maximized_means, remaining, total_scatter
from cprime.theta import Coefficients, Theta
from cprime.typing import Array


@dataclass(frozen=True)
class Distortion:
    """-F is what rows pay, per unit of weight: squared distances by their shares.

    Shares come from the sweep. What a regularisation of memberships takes off the bill
    is in the `entropy` of its statistics, which is zero for rows of one cluster.

    Parameters
    ----------
    spread : float, default=1.0
        The `covariance` of every Theta, for whoever wants to know how large the numbers
        are. Nothing here depends on it.
    """

    spread: float = 1.0

    def unit_theta(self, means: Array) -> Theta:
        return Theta(means, self.spread)

    def start(self, means: Array, stats: Stats) -> Theta:
        return self.unit_theta(means)

    def coefficients(self, theta: Theta) -> Coefficients:
        """Return those of log p = -||y - mu||^2: the closest cluster costs least."""
        return Coefficients(np.zeros(len(theta.means)), theta.means, math.sqrt(2.0))

    def maximize(self, stats: Stats, about: Theta) -> Theta:
        """Return the means of rows by their shares, which pay least for them."""
        return replace(about, means=maximized_means(stats, about))

    def finalize(self, stats: Stats, about: Theta, C_prime: int) -> Theta:
        return about

    def reseeded(self, theta: Theta, clusters: list[int]) -> Theta:
        return theta

    def remaining(self, scatter: Any, taken: Any) -> Any:
        return float(remaining(scatter, taken))

    def scatter(self, theta: Theta, stats: Stats, about: Theta) -> float:
        return total_scatter(theta, stats, about)

    def free_energy(self, theta: Theta, stats: Stats, about: Theta) -> float:
        """Return minus what rows pay under any theta, for the shares of the sweep."""
        paid = total_scatter(theta, stats, about) - stats.entropy
        return float(-paid / stats.weight)

    def floored(self, theta: Theta) -> list[int]:
        return []

    def n_parameters(self, C: int, D: int) -> int:
        return C * D
