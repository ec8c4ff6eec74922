"""What one pass over the rows leaves behind for the M-step."""

from dataclasses import dataclass
from operator import add, sub
from typing import Any

import numpy as np

from cprime.summation import sum_in_order
from cprime.theta import Theta
from cprime.typing import Array

# Of the values that are added up, what a mean of them may be wrong by.
ROUNDING = 2.0 * float(np.finfo(np.float64).eps)
# What a subtraction leaves of a scatter below this share of it may be rounding error.
KNOWN_SHARE = 2.0**-20


def remaining(scatter: Any, taken: Any) -> Any:
    """Return scatter - taken, or more where rounding may have eaten the difference.

    Of numbers that are sums of squares, or arrays of them.

    It happens when means start, or a row lay, a thousand standard deviations away. A
    scatter taken too large makes sigma^2 and F err on the safe side; F still rises, and
    the next sweep sees the rows up close.
    """
    return np.maximum(scatter - taken, KNOWN_SHARE * scatter)


def weighted_sum(weights: Array, values: Array) -> float:
    """Return sum w v; a row of no weight adds nothing, not even an infinity."""
    return float(np.sum(np.where(weights > 0, values, 0.0) * weights))


@dataclass(frozen=True)
class Stats:
    """Sums over rows. Every field adds, so partial sums from anywhere combine with `+`.

    Moments are taken about the means of the sweep that made them, not about zero:
    all blocks of a sweep share those means, so the sums still add, and nothing cancels
    however far from the origin the rows lie. Every sum is weighted by the row's weight.

    Attributes
    ----------
    counts : ndarray of shape (C,)
        sum_n q_c
    shifts : ndarray of shape (C, D)
        sum_n q_c (y - mu_c)
    scatter : float or ndarray
        sum_n sum_c q_c ||y - mu_c||^2; or for every cluster, shape (C,), and feature,
        (C, D); or as matrices sum_n q_c (y - mu_c) (y - mu_c)^T, of each cluster,
        (C, D, D), or of all together, (1, D, D). In the shape of the sweep's whitening.
    quantization_error : float
        sum_n ||y - mu_label||^2, the k-means objective J of the labels (Eq. 1); of
        whitened differences, where clusters have whitenings of their own
    entropy : float
        sum_n H(q)
    free_energy : float
        sum_n log sum_{c in K} p(y, c | Theta), for the Theta of the sweep
    weight : float
        sum of the rows' weights
    evaluations : int
        distances computed
    changed : int
        rows of positive weight whose K differs from the one before
    """

    counts: Array
    shifts: Array
    scatter: Any
    quantization_error: float
    entropy: float
    free_energy: float
    weight: float
    evaluations: int
    changed: int

    def scaled(self, weight: float, length: float = 1.0) -> "Stats":
        """Return the sums of rows with weights and values times these factors.

        `free_energy` changes with the weights alone. Work that was done stays done.
        """
        square = weight * length * length
        return Stats(
            counts=self.counts * weight,
            shifts=self.shifts * (weight * length),
            scatter=self.scatter * square,
            quantization_error=self.quantization_error * square,
            entropy=self.entropy * weight,
            free_energy=self.free_energy * weight,
            weight=self.weight * weight,
            evaluations=self.evaluations,
            changed=self.changed,
        )

    def __add__(self, other: "Stats") -> "Stats":
        return Stats(*map(add, vars(self).values(), vars(other).values()))

    def __sub__(self, other: "Stats") -> "Stats":
        return Stats(*map(sub, vars(self).values(), vars(other).values()))


def maximized_means(stats: Stats, about: Theta) -> Array:
    """Return mu = sum q y / sum q (Eq. 6). A cluster without rows keeps its mean."""
    filled = np.where(stats.counts > 0, stats.counts, 1.0)[:, None]
    means: Array = about.means + stats.shifts / filled
    return means


def total_scatter(theta: Theta, stats: Stats, about: Theta) -> float:
    """Return sum q ||y - mu||^2 about theta's means, from sums about other means."""
    step = theta.means - about.means
    gained = 2.0 * stats.shifts - stats.counts[:, None] * step
    return float(remaining(stats.scatter, sum_in_order(step * gained)))
