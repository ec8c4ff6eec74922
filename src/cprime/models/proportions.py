"""How likely is each cluster, before a row is seen?"""

import numpy as np

from cprime.stats import Stats
from cprime.typing import Array

# A cluster that no row belongs to keeps a proportion whose logarithm exists.
SMALLEST = 1e-300


def proportions(stats: Stats) -> Array:
    """Return pi_c = sum_n q_c / N, the M-step of mixing proportions."""
    found: Array = np.maximum(stats.counts / stats.weight, SMALLEST)
    return found
