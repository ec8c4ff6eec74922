"""Where do the M-steps lead? A leap along the way that two of them took."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cprime.problem import Problem
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array

# Largest factor of the first step in a leap, and of the variance.
LONGEST, WIDEST = 16.0, 4.0
# Of F, in nats per row. Below it, whether a leap lowers F is soon a question of
# rounding, of which results must not depend.
LEAST_GAIN = 1e-9


@dataclass(frozen=True)
class Path:
    """How a fit goes on between leaps: two iterations, then a leap, tried in the third.

    Attributes
    ----------
    origin : Theta, optional
        Where the first of two E-steps stood, if it was the last.
    ahead : Theta, optional
        Where the next E-step may stand, unless F is lower there than before.
    """

    origin: Theta | None = None
    ahead: Theta | None = None

    def after(self, before: Theta, theta: Theta, gain: float) -> "Path":
        """Return the path after an E-step at `before`, whose M-step led to `theta`.

        By the `gain` F was higher in this E-step than in the one before.
        """
        if gain < LEAST_GAIN:
            return START
        if self.origin is None:
            return Path(origin=before)
        return Path(ahead=leap(self.origin, before, theta))


START = Path()


def leap(first: Theta, second: Theta, third: Theta) -> Theta | None:
    """Return where M-steps lead that went from the first to the third, or None.

    SQUAREM (Varadhan & Roland 2008), scheme S3: with r the first step and v what the
    second has more than it, the leap is first + 2 a r + a^2 v, a = |r| / |v|. Means are
    measured in standard deviations, and the variance by its logarithm.

    Parameters
    ----------
    first, second, third : Theta
        Of equal clusters with one variance; each but the first is the M-step of the
        one before.
    """
    deviation = math.sqrt(third.covariance)
    step = (second.means - first.means) / deviation
    bend = (third.means - second.means) / deviation - step
    # Quotients, so that a change of units by a power of two changes no bit.
    log_step = math.log(second.covariance / first.covariance)
    log_bend = math.log(third.covariance / second.covariance) - log_step
    size, turn = _norm(step, log_step), _norm(bend, log_bend)
    if size <= turn:
        return None
    a = size / turn if size < LONGEST * turn else LONGEST
    means = first.means + deviation * (2.0 * a * step + a * a * bend)
    log_ratio = 2.0 * a * log_step + a * a * log_bend
    if not (abs(log_ratio) < math.log(WIDEST) and np.isfinite(means).all()):
        return None
    variance = float(first.covariance * math.exp(log_ratio))
    return replace(third, means=means, covariance=variance)


def swept(
    problem: Problem, theta: Theta, K: Any, path: Path, free_energy: float
) -> tuple[Theta, Any, Stats, int]:
    """Run an E-step where the path leads, or under theta if F would be lower there.

    Returns
    -------
    theta : Theta
        Under which it was run.
    K : K of the rows
    stats : Stats
    spent : int
        Distances computed for a leap that failed.
    """
    spent = 0
    if path.ahead is not None:
        ahead, stats = problem.sweep(path.ahead, K)
        if stats.free_energy / stats.weight >= free_energy:
            return path.ahead, ahead, stats, 0
        spent = stats.evaluations
    K, stats = problem.sweep(theta, K)
    return theta, K, stats, spent


def _norm(means: Array, log_variance: float) -> float:
    return math.sqrt(float(np.sum(means * means)) + log_variance * log_variance)
