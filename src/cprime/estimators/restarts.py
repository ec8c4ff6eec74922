"""The best of several fits from different seeds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cprime import em
from cprime.problem import Problem
from cprime.seeding import Seeds
from cprime.theta import Theta
from cprime.typing import Array

# Two restarts that end in the same clustering, numbered differently, have objectives
# that differ by rounding alone. Within this share of each other, the earlier one wins.
SAME_OBJECTIVE = 1e-12

TRACED = (
    "iteration",
    "free_energy",
    "evaluations",
    "changed",
    "variance",
    "relocated",
    "seconds",
)


@dataclass
class Run:
    """One restart: its history, the last complete step, and where it ended."""

    trace: list[dict[str, Any]]
    last: em.Step
    fit: em.Fit | None = None

    def objective(self, C_prime: int) -> float:
        """Return what the best restart has most of: -J at C' = 1, else F."""
        assert self.fit is not None
        if C_prime == 1:
            return -self.fit.stats.quantization_error
        return self.fit.free_energy


class Restarts:
    """Runs restarts one after another and keeps the best.

    After an interrupt `best` or, failing that, `current` holds what was complete.

    Parameters
    ----------
    problem : Problem
    tolerance : em.Tolerance
    max_iter : int
    rounded : callable
        ndarray of means -> the same means as a person will get to see them. The last
        sweep of a run stands on these.
    """

    def __init__(
        self,
        problem: Problem,
        tolerance: em.Tolerance,
        max_iter: int,
        rounded: Callable[[Array], Array],
    ):
        self._problem = problem
        self._tolerance = tolerance
        self._max_iter = max_iter
        self._rounded = rounded
        self.best: Run | None = None
        self.current: Run | None = None
        self.evaluations = 0

    def run(
        self,
        seeds: Seeds,
        watched: Callable[[Iterator[em.Step]], Iterator[em.Step]],
    ) -> Run:
        """Fit from these seeds, and remember the run if it is the best so far."""
        self.evaluations += seeds.evaluations
        steps = em.steps(self._problem, seeds.means, self._tolerance, self._max_iter)
        self.current = None
        for step in watched(steps):
            self._record(step)
        run = self.current
        assert run is not None
        theta = Theta(self._rounded(run.last.theta.means), run.last.theta.covariance)
        run.fit = em.finish(self._problem, theta, run.last.K)
        self.evaluations += run.fit.stats.evaluations
        if self.best is None or self._beats(run, self.best):
            self.best = run
        return run

    def _record(self, step: em.Step) -> None:
        line = {
            name: step.theta.covariance if name == "variance" else getattr(step, name)
            for name in TRACED
        }
        trace = [] if self.current is None else self.current.trace
        # One assignment: an interrupt finds the step recorded whole, or not at all.
        self.current = Run([*trace, line], step)
        self.evaluations += step.evaluations

    def _beats(self, run: Run, best: Run) -> bool:
        objective = run.objective(self._problem.C_prime)
        to_beat = best.objective(self._problem.C_prime)
        return objective > to_beat + SAME_OBJECTIVE * abs(to_beat)
