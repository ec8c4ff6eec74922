"""Where do the M-steps lead? A leap along the way that two of them took."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.problem import Problem
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array

# Largest factor of the first step in a leap, and of variances and proportions.
LONGEST, WIDEST = 16.0, 4.0
# Of F, in nats per row. Above, rows still change clusters by the thousand and M-steps
# lead nowhere in particular. Below, whether a leap lowers F is soon a question of
# rounding, of which results must not depend.
MOST_GAIN, LEAST_GAIN = 0.1, 1e-9


@dataclass(frozen=True)
class Path:
    """How a fit goes on between leaps: two iterations, then a leap, tried in the third.

    Attributes
    ----------
    origin : Theta, optional
        Where the first of two E-steps stood, if it was the last.
    ahead : Theta, optional
        Where the next E-step may stand, if F is higher there than before.
    """

    origin: Theta | None = None
    ahead: Theta | None = None

    def after(self, before: Theta, theta: Theta, gain: float) -> "Path":
        """Return the path after an E-step at `before`, whose M-step led to `theta`.

        By the `gain` F was higher in this E-step than in the one before.
        """
        if not LEAST_GAIN <= gain <= MOST_GAIN:
            return START
        if self.origin is None:
            return Path(origin=before)
        return Path(ahead=leap(self.origin, before, theta))


START = Path()


def leap(first: Theta, second: Theta, third: Theta) -> Theta | None:
    """Return where M-steps lead that went from the first to the third, or None.

    SQUAREM (Varadhan & Roland 2008), scheme S3: with r the first step and v what the
    second has more than it, the leap is first + 2 a r + a^2 v, a = |r| / |v|. Means are
    measured in standard deviations, variances and proportions by their logarithms.

    Parameters
    ----------
    first, second, third : Theta
        Covariances are variances; each but the first is the M-step of the one before.
    """
    if (first.proportions is None) != (third.proportions is None):
        return None
    unit = _deviations(third)
    step = _moved(first, second, unit)
    bend = _moved(second, third, unit) - step
    size, turn = float(np.linalg.norm(step)), float(np.linalg.norm(bend))
    # Steps that do not become smaller lead nowhere; nor does what is no number.
    if not turn < size < math.inf:
        return None
    a = size / turn if size < LONGEST * turn else LONGEST
    return _at(first, 2.0 * a * step + a * a * bend, unit)


def _deviations(theta: Theta) -> Array:
    """Return standard deviations, to be multiplied with means."""
    deviations: Array = np.sqrt(theta.covariance)
    return deviations[:, None] if deviations.ndim == 1 else deviations


def _moved(before: Theta, after: Theta, unit: Array) -> Array:
    """Return by how much all parameters have changed, one after another.

    Logarithms of quotients, so that units that are powers of two change no bit.
    """
    moves = [(after.means - before.means) / unit]
    moves.append(np.log(np.asarray(after.covariance / before.covariance)))
    if before.proportions is not None and after.proportions is not None:
        # A cluster that has died stays where it is.
        alive = (before.proportions > 0.0) & (after.proportions > 0.0)
        ratio = np.ones(len(alive))
        np.divide(after.proportions, before.proportions, out=ratio, where=alive)
        moves.append(np.log(ratio))
    return np.concatenate([move.ravel() for move in moves])


def _at(theta: Theta, moves: Array, unit: Array) -> Theta | None:
    """Return theta after these changes, if that is not too far away."""
    C, variances = len(theta.means), np.asarray(theta.covariance)
    means = moves[: theta.means.size].reshape(theta.means.shape)
    rest = moves[theta.means.size :]
    if np.abs(rest).max() > math.log(WIDEST):
        return None
    factors = np.exp(rest)
    covariance: Any = variances * factors[: variances.size].reshape(variances.shape)
    if variances.ndim == 0:
        covariance = float(covariance)
    proportions = theta.proportions
    if proportions is not None:
        proportions = proportions * factors[-C:]
        proportions = proportions / proportions.sum()
    return Theta(theta.means + unit * means, covariance, proportions)


def swept(
    problem: Problem, theta: Theta, K: Any, path: Path, free_energy: float
) -> tuple[Theta, Any, Stats, int]:
    """Run an E-step where the path leads, or under theta if F is not higher there.

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
        ahead = problem.model.allowed(path.ahead)
        K_ahead, stats = problem.sweep(ahead, K)
        if stats.free_energy / stats.weight > free_energy + LEAST_GAIN:
            return ahead, K_ahead, stats, 0
        spent = stats.evaluations
    K, stats = problem.sweep(theta, K)
    return theta, K, stats, spent
