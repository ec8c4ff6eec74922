"""Would an M-step of k-means do anything but round?"""

import numpy as np

from cprime.problem import Problem
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array

# Of the values that are added up, what a mean of them may be wrong by.
ROUNDING = 2.0 * float(np.finfo(np.float64).eps)


def is_fixed(problem: Problem, theta: Theta, stats: Stats) -> bool:
    """Return whether means are those of their rows already (C' = 1).

    Means of the same rows, computed from other means, differ in their last digits: a
    fit that starts from its own optimum would move, and its J could rise. A step that
    is longer than that is taken, also where no row has changed: what was computed from
    far away is refined from close up.

    Parameters
    ----------
    problem : Problem
    theta : Theta
    stats : Stats
        Of a sweep under `theta`.
    """
    filled = np.where(stats.counts > 0, stats.counts, 1.0)[:, None]
    steps = np.abs(stats.shifts / filled)
    # As far as rows of a cluster can be from its mean, on average.
    spread = np.sqrt(stats.scatter / filled)
    if np.any(steps > ROUNDING * (np.abs(theta.means) + spread)):
        return False
    return bool(np.all(steps <= ROUNDING * largest_values(problem)))


def largest_values(problem: Problem) -> Array:
    """Return the largest absolute value of every feature, in rows that have weight."""

    def largest(values: Array, weights: Array) -> Array:
        weighted = values if np.all(weights > 0) else values[weights > 0]
        found: Array = np.maximum(
            weighted.max(axis=0, initial=0.0), -weighted.min(axis=0, initial=0.0)
        )
        return found[None].astype(np.float64)

    highest: Array = problem.rows.map(largest).max(axis=0)
    return highest
