"""A start that is found by cooling: deterministic annealing (Rose 1998)."""

import math
from typing import Any

import numpy as np

from cprime import convergence, em
from cprime.checking.random_numbers import next_generator
from cprime.fitting.restarts import Start
from cprime.fitting.training import Training
from cprime.models import Isotropic
from cprime.search import Exact
from cprime.seeding import Seeds
from cprime.typing import Array

# Means that coincide are told apart by this share of a standard deviation. A stage goes
# on while means still move by a hundredth of that: a cluster about to split is noticed
# if it grows by more than a hundredth per iteration.
NUDGE = 1e-2
STILL = 1e-2 * NUDGE
MOST_STAGES = 10_000


def stages(training: Training, variance: float, factor: float) -> list[float]:
    """Return variances from one at which all clusters coincide down to `variance`.

    No clusters split while sigma^2 is above the largest eigenvalue of the rows'
    covariance. Their total variance, the sum of all eigenvalues, is the first.

    Parameters
    ----------
    training : Training
    variance : float
        In computing units, as what is returned.
    factor : float
        What each is divided by to get the next; more than 1.
    """
    first = _total_variance(training)
    if first <= variance:
        return [variance]
    # By logarithms: a quotient of variances may be more than float64 holds.
    octaves, step = math.log2(first) - math.log2(variance), math.log2(factor)
    n_stages = octaves / step
    if n_stages > MOST_STAGES:
        raise ValueError(
            f"annealing={factor!r} is so slow that it takes {n_stages:.3g} stages to "
            f"reach the final stiffness: give a factor of at least "
            f"{2.0 ** (octaves / MOST_STAGES) + 5e-5:.4f}."
        )
    cooled = [_halved(first, stage * step) for stage in range(math.ceil(n_stages))]
    return [*cooled, variance]


def _halved(variance: float, times: float) -> float:
    """Return variance / 2**times, also where 2**times leaves float64."""
    whole = math.floor(times)
    return math.ldexp(variance / math.exp2(times - whole), -whole)


class Annealing:
    """Finds where restarts begin by fits of ever smaller variance, all C clusters kept.

    All means start in the mean of the rows. Restarts differ only in the random numbers
    that tell coinciding means apart.

    Parameters
    ----------
    training : Training
    C : int
    variances : list of float
        Of all stages; the last is left to the fit that starts here.
    max_iter : int
        Largest number of iterations of one stage.
    random_state : RandomState
    spent : int, default=0
        Distances computed before, to be counted with the first start.
    """

    def __init__(
        self,
        training: Training,
        C: int,
        variances: list[float],
        max_iter: int,
        random_state: Any,
        spent: int = 0,
    ):
        self._training = training
        self._C = C
        self._variances = variances
        self._max_iter = max_iter
        self._random_state = random_state
        self._spent = spent

    def next(self) -> Start:
        """Return what finds the first means of the next restart, in computing units."""
        rng = next_generator(self._random_state)
        spent, self._spent = self._spent, 0
        return lambda: self._cooled(rng, spent)

    def _cooled(self, rng: np.random.Generator, evaluations: int) -> Seeds:
        *stages, last = self._variances
        means = np.repeat(self._training.overall.means, self._C, axis=0)
        for variance in stages:
            means = self._told_apart(means, variance, rng)
            problem = self._training.problem(
                Isotropic(variance=variance), Exact(), self._C
            )
            still = convergence.Tolerance(means.size * STILL * STILL * variance, 0.0)
            for step in em.steps(problem, means, still, self._max_iter):
                evaluations += step.evaluations
            means = step.theta.means
        return Seeds(self._told_apart(means, last, rng), evaluations)

    def _told_apart(
        self, means: Array, variance: float, rng: np.random.Generator
    ) -> Array:
        """Return the means, all moved at random, by little beside clusters and rows."""
        deviation = math.sqrt(min(variance, _total_variance(self._training)))
        moved: Array = means + NUDGE * deviation * rng.standard_normal(means.shape)
        return moved


def _total_variance(training: Training) -> float:
    return training.rows.n_features * float(training.overall.covariance)
