"""How likely is each cluster, before a row is seen?"""

import numpy as np

from cprime.stats import Stats
from cprime.typing import Array

# A cluster that no row belongs to is taken to have this proportion: its log exists.
SMALLEST = 1e-300


def proportions(stats: Stats) -> Array:
    """Return pi_c = sum_n q_c / N, the M-step of mixing proportions."""
    found: Array = stats.counts / stats.weight
    return found


def log_proportions(of: Array) -> Array:
    """Return log pi_c, a number even where pi_c is 0."""
    logs: Array = np.log(np.maximum(of, SMALLEST))
    return logs
