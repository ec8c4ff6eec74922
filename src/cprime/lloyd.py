"""What if nobody looks on? k-means from its seeds to its end, in one go.

In compiled code, or on the device that has the rows.

`em` says what is done; this is the same to the bit, without a word in between. Where
something unusual happens, such as a cluster that becomes empty, it is left to `em`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime import convergence, em
from cprime.blocks import LEAF_ROWS, Kept
from cprime.kernels import many_fits, native
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.stats import Stats
from cprime.theta import NOTHING, Theta
from cprime.typing import Array

# What compiled code says of the end of a fit.
UNFINISHED, MAX_ITER, STRICT, WITHIN, HANDED_BACK = range(5)
# Where a line of its steps has the distances computed.
EVALUATIONS = 3


@dataclass(frozen=True)
class Ended:
    """A fit that ran without being looked at.

    Attributes
    ----------
    steps : ndarray of shape (1 + iterations, 6)
        F, F expected, variance, evaluations, changed and seconds of every step.
    last : Step
        The last of them.
    fit : Fit, optional
        Where it ended, unless it was interrupted.
    """

    steps: Array
    last: em.Step
    fit: em.Fit | None

    @property
    def of_steps(self) -> int:
        """How many distances were computed by its steps."""
        return int(self.steps[:, EVALUATIONS].sum())

    @property
    def evaluations(self) -> int:
        """How many distances were computed in all."""
        return self.of_steps + (self.fit.stats.evaluations if self.fit else 0)

    def history(self) -> Iterator[em.Step]:
        """Yield all steps as `em.steps` does, but for the means and K they had."""
        for i, line in enumerate(self.steps[:-1]):
            yield _step(i, line, self.last.theta.means, None)
        yield self.last


def is_possible(problem: Problem, stop: convergence.Stop, C: int, dtype: Any) -> bool:
    """Return whether fits of C clusters, returned as `dtype`, can run like this."""
    rows, model = problem.rows, problem.model
    block, resident = rows.block, rows.resident
    runs = (
        problem.kernel is native
        and block is not None
        and block.scale == 1.0
        and native.runs_unwatched(rows.n_rows, C, rows.n_features)
    )
    if resident is not None:
        runs = problem.search.plan().reluctance == 1.0 and C > 1
    return (
        runs
        and problem.C_prime == 1
        and dtype in (np.float32, np.float64)
        and not problem.search.is_partial
        and type(model) is Isotropic
        and model.equal
        and model.given is NOTHING
        and type(stop) in (convergence.Tolerance, convergence.Gain)
    )


def fits(
    problem: Problem,
    stop: convergence.Tolerance | convergence.Gain,
    max_iter: int,
    seeds: Array,
    dtype: Any,
    ended: list[Ended | None],
) -> None:
    """Fit from several seeds, as many at a time as there are threads.

    Parameters
    ----------
    problem : Problem
    stop : Tolerance or Gain
    max_iter : int
    seeds : ndarray of shape (R, C, D)
    dtype : dtype
        Of the means as they are returned, on which the last sweep stands.
    ended : list
        What became of every fit is appended, also if an interrupt is raised; None is
        one that `em` has to do.
    """
    model, rows = problem.model, problem.rows
    assert isinstance(model, Isotropic) and rows.block is not None
    within = stop.tolerance if isinstance(stop, convergence.Gain) else stop.shift
    rules = {
        "max_iter": min(max_iter, 2**31 - 1),
        "leaf_rows": LEAF_ROWS,
        "by_gain": isinstance(stop, convergence.Gain),
        "within": within,
        "floor": model.floor,
        "variance": model.variance or 0.0,
        "variance_init": model.variance_init or 0.0,
        "reluctance": problem.search.plan().reluctance,
        "as_float": dtype == np.float32,
    }
    found: Any
    if rows.resident is None:
        found = many_fits.Lloyd(rows.block, seeds)
    else:
        found = rows.resident.fits(seeds)
    try:
        found.run(convergence.largest_values(problem), rules)
    finally:
        ended += [_ended(stop, *of_fit) for of_fit in found.fits()]


def _ended(
    stop: convergence.Tolerance | convergence.Gain,
    numbers: tuple[Any, ...],
    means: Array,
    centers: Array,
    counts: Array,
    shifts: Array,
    labels: Array,
) -> Ended | None:
    end, least, steps, variance, free_energy, scatter, *rest = numbers
    if end == HANDED_BACK or len(steps) == 0:
        return None
    K, fit = Kept(labels), None
    if end != UNFINISHED:
        expected, weight, evaluations, changed = rest
        stats = Stats(
            counts,
            shifts,
            scatter,
            scatter,
            0.0,
            expected,
            weight,
            evaluations,
            changed,
        )
        fit = em.Fit(Theta(centers, variance), K, stats, free_energy)
    converged = {STRICT: convergence.STRICT, WITHIN: stop.within(least)}.get(end, "")
    last = _step(len(steps) - 1, steps[-1], means, K, converged)
    return Ended(steps, last, fit)


def _step(
    iteration: int, line: Array, means: Array, K: Any, converged: str = ""
) -> em.Step:
    free_energy, expected, variance, evaluations, changed, seconds = line.tolist()
    return em.Step(
        iteration,
        Theta(means, variance),
        K,
        free_energy,
        expected,
        int(evaluations),
        int(changed),
        (),
        seconds,
        converged,
    )
