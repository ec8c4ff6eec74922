"""The questions a mixture model answers."""

from typing import Any, Protocol

from cprime.stats import Stats
from cprime.theta import Coefficients, Theta
from cprime.typing import Array


class Model(Protocol):
    """A Gaussian mixture, seen from the EM loop.

    `about` is always the Theta whose means the statistics were taken about.
    """

    def unit_theta(self, means: Array) -> Theta:
        """Return equal clusters of unit variance: the closest is the most likely."""

    def start(self, means: Array, stats: Stats) -> Theta:
        """Return the first Theta, from seeds and a hard (C'=1) sweep about them."""

    def coefficients(self, theta: Theta) -> Coefficients:
        """Return the numbers from which a kernel computes log p(y, c | Theta)."""

    def maximize(self, stats: Stats, about: Theta) -> Theta:
        """Return the Theta of highest free energy for these statistics: the M-step."""

    def finalize(self, stats: Stats, about: Theta, C_prime: int) -> Theta:
        """Return the Theta of a fit, after the last sweep, which stood on `about`."""

    def allowed(self, theta: Theta) -> Theta:
        """Return theta with covariances that this model may have."""

    def reseeded(self, theta: Theta, clusters: list[int]) -> Theta:
        """Return the same with a shape for clusters that have just been given a row."""

    def remaining(self, scatter: Any, taken: Any) -> Any:
        """Return scatter - taken, or more where rounding may have eaten the rest."""

    def scatter(self, theta: Theta, stats: Stats, about: Theta) -> Any:
        """Return the scatter about theta's means, from sums about other means."""

    def free_energy(self, theta: Theta, stats: Stats, about: Theta) -> float:
        """Return F(q, theta) per unit of weight, for the q behind the statistics."""

    def floored(self, theta: Theta) -> list[int]:
        """Return the clusters whose covariance is at the floor."""

    def n_parameters(self, C: int, D: int) -> int:
        """Return how many numbers a fit is free to choose."""
