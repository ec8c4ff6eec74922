"""When to go on and when to stop: the only loop."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cprime.convergence import Change, Stop
from cprime.extrapolation import START, Path, swept
from cprime.problem import Problem
from cprime.relocation import refill
from cprime.search import Search
from cprime.stats import Stats
from cprime.theta import Theta, variances_of
from cprime.typing import Array

# Steps of rows that look at some clusters only gain little below this, in nats per row:
# what they miss costs more.
SLOW = 0.01


@dataclass(frozen=True)
class Step:
    """One line of a fit's history.

    `free_energy` is F(q_t, Theta_t), after the M-step of iteration t, and `expected`
    F(q_t, Theta_t-1), before it; `evaluations`, `changed` and `seconds` are the work of
    its E-step, and `relocated` names clusters that had died and were given a row. Step
    0 is the start: the seeds, with the clusters K the first E-step finds for them.
    `path` is what the next iterations may leap along, `search` is as far as that of the
    problem had come, if that is not the same all the time. `missed` counts rows that
    had not had their true C' closest clusters when they first looked at all.
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
    path: Path = START
    search: Search | None = None
    missed: int | None = None


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
    K: Any = None,
) -> Iterator[Step]:
    """Yield the start and then every iteration, until convergence or `max_iter`.

    Whoever iterates may stop early; the last step yielded is always complete. A fit
    that goes on from another one may say what F was `expected` in its last E-step, and
    a search that does not look at all clusters can begin with those K rows are near.
    """
    model, clock = problem.model, _Stopwatch()
    problem, found = problem.follow(model.unit_theta(means))
    theta, K, stats, evaluations = first_step(problem, means, K)
    evaluations += found
    F = finite(model.free_energy(theta, stats, about=theta), theta)
    seconds, search = clock.lap(), problem.search
    start = Step(0, theta, K, F, expected, evaluations, 0, (), seconds, search=search)
    yield start
    yield from _iterations(problem, start, stats, stop, max_iter)


def steps_from(
    problem: Problem, theta: Theta, stop: Stop, max_iter: int
) -> Iterator[Step]:
    """Yield the iterations that follow parameters which are known.

    For those who only want to know where they lead: F after an M-step is not computed,
    and that of the E-step before it stands in its place.
    """
    F, search = -math.inf, problem.search
    start = Step(0, theta, None, F, F, 0, 0, (), 0.0, search=search)
    yield from _iterations(problem, start, None, stop, max_iter, watched=False)


def resume(problem: Problem, step: Step, stop: Stop, max_iter: int) -> Iterator[Step]:
    """Yield the iterations after a complete one, as `steps` would have.

    The start is none: what its sweep found is not in it. From there, begin again.
    """
    if step.iteration < 1:
        raise ValueError("A fit goes on from an iteration, not from its start.")
    if not step.converged:
        yield from _iterations(problem, step, None, stop, max_iter)


def _iterations(
    problem: Problem,
    step: Step,
    stats: Stats | None,
    stop: Stop,
    max_iter: int,
    watched: bool = True,
) -> Iterator[Step]:
    """Yield the iterations after `step`, if its sweep is known without it once more."""
    model, clock = problem.model, _Stopwatch()
    first, theta, K, expected = step.iteration, step.theta, step.K, step.expected
    free_energy, path = step.free_energy, step.path
    problem = problem.resumed(step.search)
    missed = step.missed
    del step
    for iteration in range(first + 1, max_iter + 1):
        spent = 0
        if stats is None:
            problem, found = problem.follow(theta)
            theta, K, stats, spent = swept(problem, theta, K, path, free_energy)
            spent += found
        expected_before = expected
        expected = stats.free_energy / stats.weight
        K, moments, about, relocated = refill(problem, K, stats, theta)
        after = theta
        if relocated or not stop.is_fixed(problem, theta, stats):
            after = model.reseeded(model.maximize(moments, about), relocated)
        free_energy = finite(
            model.free_energy(after, moments, about) if watched else expected, after
        )
        converged, gain = "", expected - expected_before
        if problem.extrapolates:
            path = START if relocated else path.after(theta, after, gain)
        # Small steps before a leap say little: that is tried first.
        if not relocated and path.ahead is None:
            converged = stop.reason(
                Change(problem.C_prime, stats.changed, theta, after, gain)
            )
        theta, changed, spent = after, stats.changed, spent + stats.evaluations
        stats = None
        if relocated:
            problem = replace(problem, search=problem.search.surprised())
        slow = converged or gain < SLOW
        if slow and problem.search.last is not problem.search:
            problem, K, stats, missed, rise, work = examine(problem, theta, K)
            spent += work
            if converged and rise <= stop.least_gain:
                spent += stats.evaluations
            else:
                converged = ""
        yield Step(
            iteration,
            theta,
            K,
            free_energy,
            expected,
            spent,
            changed,
            tuple(relocated),
            clock.lap(),
            converged,
            path,
            problem.search,
            missed,
        )
        if converged:
            return


class Examined(NamedTuple):
    """What rows gain by looking at all clusters.

    Attributes
    ----------
    problem : Problem
        With the search that goes on from there.
    K, stats
        Of the E-step in which they look at all, with rows changed since the one before.
    missed : int
        Rows of positive weight for which it finds other clusters.
    gain : float
        By how much it raises F, in nats per row.
    evaluations : int
        Distances that were computed for it, but for those of `stats`.
    """

    problem: Problem
    K: Any
    stats: Stats
    missed: int
    gain: float
    evaluations: int


def examine(problem: Problem, theta: Theta, K: Any) -> Examined:
    """Compare an E-step with one that looks at all clusters, under the same theta."""
    following, found = problem.follow(theta)
    K, partial = following.sweep(theta, K)
    K, exact = problem.sweep_exactly(theta, K)
    missed, gain = exact.changed, exact.free_energy - partial.free_energy
    # In two sweeps: a fit in which rows still move has not ended.
    exact = replace(exact, changed=min(partial.changed + missed, problem.rows.n_rows))
    evaluations = found + partial.evaluations
    at_end = replace(problem, search=problem.search.last)
    return Examined(at_end, K, exact, missed, gain / exact.weight, evaluations)


def first_step(
    problem: Problem, means: Array, K: Any = None
) -> tuple[Theta, Any, Stats, int]:
    """Return the first Theta, K and statistics of an E-step under it, and work before.

    A hard sweep about the seeds gives Theta; the work is the distances it computed.
    """
    is_given = K is not None
    K, hard = problem.sweep_about_seeds(means, K)
    theta = problem.model.start(means, hard)
    if problem.C_prime == 1 and theta.has_equal_clusters:
        # The sweep that gave sigma^2 is the first E-step: K does not depend on it.
        return theta, K, hard, 0
    # A search that does not look at all clusters begins near the one of each row, and
    # what someone gives is not forgotten.
    search = problem.search
    goes_on = search.depends_on_K and (search.is_partial or is_given)
    K, stats = problem.sweep(theta, K if goes_on else None)
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
