"""When to go on and when to stop: the only loop."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cprime import fixed_points
from cprime.problem import Problem
from cprime.relocation import refill
from cprime.stats import Stats
from cprime.theta import Theta, variances_of
from cprime.typing import Array


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
    """A rule for when a fit has converged."""

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

    def reason(self, change: Change) -> str:
        if abs(change.gain) < self.tolerance:
            return (
                f"free energy gained {change.gain:.3g}, less than {self.tolerance:.3g}"
            )
        return ""

    def is_fixed(self, problem: Problem, theta: Theta, stats: Stats) -> bool:
        return False


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

    def reason(self, change: Change) -> str:
        if change.C_prime == 1 and change.rows == 0:
            return "strict convergence"
        before, after = change.before, change.after
        shift = float(np.sum((after.means - before.means) ** 2))
        drift = 0.0
        if change.C_prime > 1:
            drift = abs(math.log(after.covariance) - math.log(before.covariance))
        if shift <= self.shift and drift <= self.log_variance:
            return f"center shift {shift} within tolerance {self.shift}"
        return ""

    def is_fixed(self, problem: Problem, theta: Theta, stats: Stats) -> bool:
        return problem.C_prime == 1 and fixed_points.is_fixed(problem, theta, stats)


@dataclass(frozen=True)
class Step:
    """One line of a fit's history.

    `free_energy` is F(q_t, Theta_t), after the M-step of iteration t, and `expected`
    F(q_t, Theta_t-1), before it; `evaluations`, `changed` and `seconds` are the work of
    its E-step, and `relocated` names clusters that had died and were given a row. Step
    0 is the start: the seeds, with the clusters K the first E-step finds for them.
    """

    iteration: int
    theta: Theta
    K: Any
    free_energy: float
    expected: float
    evaluations: int
    changed: int
    relocated: tuple[int, ...]
    seconds: float
    converged: str = ""


@dataclass(frozen=True)
class Fit:
    """Where a fit ended. K, stats and free_energy all belong to this theta."""

    theta: Theta
    K: Any
    stats: Stats
    free_energy: float


def steps(
    problem: Problem,
    means: Array,
    stop: Stop,
    max_iter: int,
    expected: float = -math.inf,
) -> Iterator[Step]:
    """Yield the start and then every iteration, until convergence or `max_iter`.

    Whoever iterates may stop early; the last step yielded is always complete. A fit
    that goes on from another one may say what F was `expected` in its last E-step.
    """
    model, clock = problem.model, _Stopwatch()
    theta, K, stats, evaluations = first_step(problem, means)
    free_energy = finite(model.free_energy(theta, stats, about=theta), theta)
    start = Step(0, theta, K, free_energy, expected, evaluations, 0, (), clock.lap())
    yield start
    yield from _iterations(problem, start, stats, stop, max_iter)


def steps_from(
    problem: Problem, theta: Theta, stop: Stop, max_iter: int
) -> Iterator[Step]:
    """Yield the iterations that follow parameters which are known."""
    start = Step(0, theta, None, -math.inf, -math.inf, 0, 0, (), 0.0)
    yield from _iterations(problem, start, None, stop, max_iter)


def resume(problem: Problem, step: Step, stop: Stop, max_iter: int) -> Iterator[Step]:
    """Yield the iterations after a complete one, as `steps` would have.

    The start is none: what its sweep found is not in it. From there, begin again.
    """
    if step.iteration < 1:
        raise ValueError("A fit goes on from an iteration, not from its start.")
    if not step.converged:
        yield from _iterations(problem, step, None, stop, max_iter)


def _iterations(
    problem: Problem, step: Step, stats: Stats | None, stop: Stop, max_iter: int
) -> Iterator[Step]:
    """Yield the iterations after `step`, if its sweep is known without it once more."""
    model, clock = problem.model, _Stopwatch()
    first, theta, K, expected = step.iteration, step.theta, step.K, step.expected
    del step
    for iteration in range(first + 1, max_iter + 1):
        if stats is None:
            K, stats = problem.sweep(theta, K)
        expected_before = expected
        expected = stats.free_energy / stats.weight
        K, moments, about, relocated = refill(problem, K, stats, theta)
        after = theta
        if relocated or not stop.is_fixed(problem, theta, stats):
            after = model.reseeded(model.maximize(moments, about), relocated)
        free_energy = finite(model.free_energy(after, moments, about), after)
        converged = ""
        if not relocated:
            gain = expected - expected_before
            converged = stop.reason(
                Change(problem.C_prime, stats.changed, theta, after, gain)
            )
        theta = after
        yield Step(
            iteration,
            theta,
            K,
            free_energy,
            expected,
            stats.evaluations,
            stats.changed,
            tuple(relocated),
            clock.lap(),
            converged,
        )
        if converged:
            return
        stats = None


def first_step(problem: Problem, means: Array) -> tuple[Theta, Any, Stats, int]:
    """Return the first Theta, K and statistics of an E-step under it, and work before.

    A hard sweep about the seeds gives Theta; the work is the distances it computed.
    """
    K, hard = problem.sweep_about_seeds(means)
    theta = problem.model.start(means, hard)
    if problem.C_prime == 1 and theta.has_equal_clusters:
        # The sweep that gave sigma^2 is the first E-step: K does not depend on it.
        return theta, K, hard, 0
    K, stats = problem.sweep(theta, None)
    return theta, K, stats, hard.evaluations


def finish(problem: Problem, theta: Theta, K: Any) -> Fit:
    """Run the last sweep, after which labels, means, inertia and F belong together."""
    K, stats = problem.sweep(theta, K, last=True)
    final = problem.model.finalize(stats, theta, problem.C_prime)
    free_energy = problem.model.free_energy(final, stats, about=theta)
    return Fit(final, K, stats, finite(free_energy, final))


def finite(free_energy: float, theta: Theta) -> float:
    """Return F, or say that it has left float64."""
    if not math.isfinite(free_energy):
        variance = np.min(variances_of(theta.covariance))
        raise ValueError(
            "The free energy is not a finite number: with a variance of "
            f"{variance:.3g} some squared distances, divided by it, exceed what "
            "float64 can hold. Give a larger variance (a lower stiffness), or rescale "
            "the data."
        )
    return free_energy


class _Stopwatch:
    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return seconds
