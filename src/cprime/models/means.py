"""Where do the means go, and what scatter is left about them?"""

import numpy as np

from cprime.stats import Stats, remaining
from cprime.summation import sum_in_order
from cprime.theta import Theta
from cprime.typing import Array


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
