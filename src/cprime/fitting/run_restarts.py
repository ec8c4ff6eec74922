"""Do restarts run side by side, or one by one because someone watches?"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime import convergence, em
from cprime.checking.random_numbers import checked_random_state
from cprime.fitting.callbacks import Watch
from cprime.fitting.gap import gap_of_best
from cprime.fitting.progress import Listener, notify
from cprime.fitting.restarts import Restarts, Start, State
from cprime.fitting.results import Attributes, Results
from cprime.fitting.unwatched import run_unwatched
from cprime.rows import Rows

# Of restarts that run together, sweeps are at most so many multiply-adds: a few tenths
# of a second in all.
WORK_TOGETHER = 2**26
# What a row costs besides its distances.
OF_A_ROW = 64


@dataclass(frozen=True)
class Recipe:
    """What the restarts of a fit are made of, as an estimator puts it together.

    Attributes
    ----------
    results : Results
        What is to be fitted, and what becomes of it.
    stop : convergence.Stop
    n_clusters, n_init : int
    next_start : callable
        Draws what the next restart needs of random numbers.
    seeding : str
        How it finds seeds, as a user is told.
    in_order : bool, default=False
        Whether restarts must be begun one after another.
    expected : float, optional
        F of the last E-step of a fit that is gone on with.
    """

    results: Results
    stop: convergence.Stop
    n_clusters: int
    n_init: int
    next_start: Callable[[], Start]
    seeding: str
    in_order: bool = False
    expected: float = -math.inf


class Keeper:
    """Keeps nothing: a fit without a checkpoint."""

    keeps = False
    finished = False
    message = ""

    def random_state(self, given: Any) -> np.random.RandomState:
        """Return the random numbers of a fit, from where it began."""
        return checked_random_state(given)

    def restored(self, rows: Rows, C: int, seeding: str) -> State:
        """Return how far the fit has come: not at all, unless one was under way."""
        return State()

    def keep(self, state: State) -> None:
        """Write a state if it is time to."""

    def interrupted(self, state: State) -> None:
        """Write the last state of a fit that someone stops."""

    def finish(self, state: State) -> None:
        """Write the last state of a fit, in which all restarts are complete."""


def run_restarts(
    estimator: Any,
    recipe: Recipe,
    data: dict[str, Any],
    put: Callable[[Attributes], None],
    keeper: Keeper,
    progress: Listener | None = None,
) -> Restarts:
    """Run as many restarts as the estimator asks for, telling whoever wants to know.

    Parameters
    ----------
    estimator : estimator
    recipe : Recipe
    data : dict
        Passed to every callback: `X` and `metadata`.
    put : callable
        Sets the attributes of a fit, also of one that is interrupted.
    keeper : Keeper
        Knows how far the fit had come before, and keeps how far it comes.
    progress : callable, optional
        Is told of every iteration.
    """
    if not (progress is None or callable(progress)):
        raise TypeError(f"progress must be a callable, not {progress!r:.60}.")
    results, seeding, n_init = recipe.results, recipe.seeding, recipe.n_init
    problem, C = results.problem, recipe.n_clusters
    at_once = min(n_init, problem.fits_at_once(C))
    watched = is_watched(estimator, progress)
    side_by_side = not (watched or recipe.in_order or keeper.keeps)
    restarts = Restarts(
        problem,
        recipe.stop,
        estimator.max_iter,
        results,
        recipe.expected,
        state=keeper.restored(problem.rows, C, seeding),
        keep=keeper.keep,
    )
    if estimator.verbose and keeper.message:
        print(keeper.message)
    try:
        if side_by_side and results.run_unwatched(recipe.stop, C):
            for count in _batches(n_init, at_once, problem.rows, C):
                starts = [recipe.next_start() for _ in range(count)]
                run_unwatched(restarts, starts, results.dtype)
        elif at_once > 1 and side_by_side:
            starts = [recipe.next_start() for _ in range(n_init)]
            restarts.run_side_by_side(starts, at_once)
        else:
            if keeper.finished:
                n_init = len(restarts.state.complete)
            _one_by_one(
                estimator, restarts, results, data, n_init, recipe.next_start, progress
            )
        keeper.finish(restarts.state)
        attributes = results.complete(restarts) | gap_of_best(results, restarts.state)
    except KeyboardInterrupt:
        keeper.interrupted(restarts.state)
        if known := results.interrupted(restarts):
            put({**known, "seeding_": seeding})
        raise
    put({**attributes, "seeding_": seeding})
    return restarts


def is_watched(estimator: Any, progress: Listener | None) -> bool:
    """Return whether code of a user's runs between the iterations of a fit."""
    return bool(estimator.verbose or _callbacks(estimator) or progress)


def _batches(n_init: int, at_once: int, rows: Rows, C: int) -> Iterator[int]:
    """Yield how many restarts run together: an interrupt keeps those before them."""
    of_a_sweep = rows.n_rows * (C * rows.n_features + OF_A_ROW)
    together = max(at_once, WORK_TOGETHER // of_a_sweep)
    for first in range(0, n_init, together):
        yield min(together, n_init - first)


def _one_by_one(
    estimator: Any,
    restarts: Restarts,
    results: Results,
    data: dict[str, Any],
    n_init: int,
    next_start: Callable[[], Start],
    progress: Listener | None,
) -> None:
    watch = None
    if _callbacks(estimator):
        watch = Watch(
            estimator,
            n_init,
            estimator.max_iter,
            data,
            lambda step: results.parameters(step.theta),
        )

    def watched(steps: Iterator[em.Step]) -> Iterator[em.Step]:
        if watch is not None:
            steps = watch.run(steps)
        if estimator.verbose:
            interval = int(getattr(estimator, "verbose_interval", 1))
            steps = _printed(steps, results, interval)
        if progress is None:
            return steps
        return notify(
            steps,
            progress,
            results.measured,
            restart=restart,
            n_init=n_init,
            max_iter=int(estimator.max_iter),
            n_rows=results.problem.rows.n_rows,
        )

    for restart in range(n_init):
        # Random numbers are those of all restarts, also of those that are complete.
        start = next_start()
        if restart < len(restarts.state.complete):
            continue
        if estimator.verbose:
            print(f"Restart {restart + 1} of {n_init}")
        restarts.run(start, watched)
        if watch is not None and watch.stopped:
            break
    if watch is not None:
        watch.end()


def _callbacks(estimator: Any) -> list[Any]:
    """Return those of scikit-learn's callbacks that are set, if it has them."""
    found: list[Any] = getattr(estimator, "_skl_callbacks", [])
    return found


def _printed(
    steps: Iterator[em.Step], results: Results, interval: int
) -> Iterator[em.Step]:
    for step in steps:
        if step.iteration % interval == 0 or step.converged:
            measures = results.measured(step.free_energy).items()
            told = [f"{name.replace('_', ' ')} {value:.6f}" for name, value in measures]
            if results.problem.C_prime < len(step.theta.means):
                told.append(f"{step.changed} rows changed clusters")
            print(f"Iteration {step.iteration}, {', '.join(told)}.")
        if step.converged:
            print(f"Converged at this iteration: {step.converged}.")
        yield step
