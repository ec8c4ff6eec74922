"""Would an M-step of k-means do anything but round?"""

import numpy as np

from cprime.problem import Problem
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array

EPSILON = float(np.finfo(np.float64).eps)


def is_fixed(problem: Problem, theta: Theta, stats: Stats) -> bool:
    """Return whether means are those of their rows already (C' = 1).

    Means of the same rows, computed from other means, differ in their last digits: a
    fit that starts from its own optimum would move, and its J could rise.

    Parameters
    ----------
    problem : Problem
    theta : Theta
    stats : Stats
        Of a sweep under `theta`.
    """
    if stats.changed == 0:
        return True
    filled = np.where(stats.counts > 0, stats.counts, 1.0)[:, None]
    steps = np.abs(stats.shifts / filled)
    # As far as rows of a cluster can be from its mean, on average.
    spread = np.sqrt(stats.scatter / filled)
    if np.any(steps > EPSILON * (np.abs(theta.means) + spread)):
        return False
    return bool(np.all(steps <= EPSILON * _largest_values(problem)))


def _largest_values(problem: Problem) -> Array:
    """Return the largest absolute value of every feature, in rows that have weight."""

    def largest(values: Array, weights: Array) -> Array:
        weighted = abs(values[weights > 0])
        if weighted.shape[0] == 0:
            return np.zeros((1, weighted.shape[1]))
        found = weighted.max(axis=0)
        dense: Array = found.toarray() if hasattr(found, "toarray") else found[None]
        return dense.reshape(1, -1)

    highest: Array = problem.rows.map(largest).max(axis=0)
    return highest
