"""When has a fit converged? Rules, and M-steps that would do nothing but round."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cprime.problem import Problem
from cprime.stats import ROUNDING, Stats
from cprime.summation import sum_in_order
from cprime.theta import Theta
from cprime.typing import Array

# Why a fit has converged in which no row changes clusters any more.
STRICT = "strict convergence"


@dataclass(frozen=True)
class Change:
    """What an iteration has changed, for whoever decides when to stop.

    Attributes
    ----------
    C_prime : int
    rows : int
        Rows whose clusters changed in the E-step.
    before, after : Theta
    gain : float
        By how much F was higher after this E-step than after the one before it;
        infinite for the first.
    """

    C_prime: int
    rows: int
    before: Theta
    after: Theta
    gain: float


class Stop(Protocol):
    """A rule for when a fit has converged.

    Attributes
    ----------
    least_gain : float
        What F must rise by, in nats per row, to be worth an E-step over all clusters.
    """

    @property
    def least_gain(self) -> float: ...

    def reason(self, change: Change) -> str:
        """Return why a fit that changed so little has converged, or nothing."""

    def is_fixed(self, problem: Problem, theta: Theta, stats: Stats) -> bool:
        """Return whether an M-step after this sweep under theta would only round."""


@dataclass(frozen=True)
class Gain:
    """Converged when F changes by less than `tolerance` from one E-step to the next.

    There F is the likelihood, where rows keep all clusters. As in scikit-learn.
    """

    tolerance: float

    @property
    def least_gain(self) -> float:
        return self.tolerance

    def reason(self, change: Change) -> str:
        return self.within(change.gain) if abs(change.gain) < self.tolerance else ""

    def within(self, gain: float) -> str:
        """Return why a fit that gained so little has converged."""
        return f"free energy gained {gain:.3g}, less than {self.tolerance:.3g}"

    def is_fixed(self, problem: Problem, theta: Theta, stats: Stats) -> bool:
        return False


@dataclass(frozen=True)
class Rise(Gain):
    """Converged when F rises by less than `tolerance`, or nothing moves at all.

    For rows that keep several clusters: how far means still move says little there,
    because many of them share the rows between them.
    """

    def reason(self, change: Change) -> str:
        before, after = change.before, change.after
        moved = np.any(before.means != after.means)
        if not moved and before.covariance == after.covariance:
            return "nothing moved"
        return super().reason(change)


@dataclass(frozen=True)
class Tolerance:
    """How little must still move for a fit to count as converged.

    Attributes
    ----------
    shift : float
        Largest sum_c ||mu_c - mu_c_before||^2.
    log_variance : float
        Largest |log sigma^2 - log sigma^2_before|. Asked for only with C' > 1: at
        C' = 1 the means do not depend on the variance (Prop. 2).
    """

    shift: float
    log_variance: float

    @property
    def least_gain(self) -> float:
        # The same number, of J in place of F: that is -D / 2 times its logarithm.
        return self.log_variance

    def reason(self, change: Change) -> str:
        if change.C_prime == 1 and change.rows == 0:
            return STRICT
        before, after = change.before, change.after
        shift = sum_in_order((after.means - before.means) ** 2)
        drift = 0.0
        if change.C_prime > 1:
            drift = abs(math.log(after.covariance) - math.log(before.covariance))
        if shift <= self.shift and drift <= self.log_variance:
            return self.within(shift)
        return ""

    def within(self, shift: float) -> str:
        """Return why a fit whose means moved so little has converged."""
        return f"center shift {shift} within tolerance {self.shift}"

    def is_fixed(self, problem: Problem, theta: Theta, stats: Stats) -> bool:
        return problem.C_prime == 1 and is_fixed(problem, theta, stats)


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
    lowest, highest = problem.rows.extremes()
    largest: Array = np.maximum(highest, -lowest)
    return largest
