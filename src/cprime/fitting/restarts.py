"""The best of several fits from different seeds."""

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import numpy as np

from cprime import convergence, em
from cprime.problem import Problem
from cprime.seeding import Seeds
from cprime.theta import Theta

# Two restarts that end in the same clustering, numbered differently, have objectives
# that differ by rounding alone. Within this share of each other, the earlier one wins.
SAME_OBJECTIVE = 1e-12


# Finds seeds, when they are needed.
Start = Callable[[], Seeds]
# Looks at steps on their way, and may end them.
Watched = Callable[[Iterator[em.Step]], Iterator[em.Step]]


@dataclass(frozen=True)
class Run:
    """One restart: its history, the last complete step, and where it ended."""

    trace: Sequence[dict[str, Any]]
    last: em.Step
    evaluations: int
    fit: em.Fit | None = None


@dataclass(frozen=True)
class State:
    """How far several restarts have come. It is replaced as a whole.

    Attributes
    ----------
    complete : tuple of dict
        What is remembered of every complete restart, in order.
    evaluations : int
        Distances they computed.
    best : Run, optional
        Of the complete ones.
    seeds : Seeds, optional
        Where the current restart began, once that was found.
    current : Run, optional
        As far as the current restart is.
    """

    complete: tuple[dict[str, Any], ...] = ()
    evaluations: int = 0
    best: Run | None = None
    seeds: Seeds | None = None
    current: Run | None = None


NOT_BEGUN = State()


class Ending(Protocol):
    """What restarts need to know of the estimator they are run for."""

    def rounded(self, theta: Theta) -> Theta:
        """Return parameters as a user will see them, in computing units."""

    def traced(self, step: em.Step) -> dict[str, Any]:
        """Return what of a step is remembered."""

    def objective(self, fit: em.Fit) -> float:
        """Return what the best restart has most of."""

    def summarised(self, run: Run) -> dict[str, Any]:
        """Return what of a complete restart is remembered."""


class Restarts:
    """Fits from several seeds, and keeps the best.

    After an interrupt the best or, failing that, the current run of its `state` holds
    what was complete.

    Parameters
    ----------
    problem : Problem
    stop : convergence.Stop
    max_iter : int
    results : Results
        Says how parameters look to a user, on which the last sweep of a run stands;
        what of a step is remembered; and which of two fits is better.
    expected : float, optional
        F of the last E-step of a fit that is gone on with.
    state : State, optional
        How far they have come before.
    keep : callable, optional
        Is called with every new state, to keep it.
    """

    def __init__(
        self,
        problem: Problem,
        stop: convergence.Stop,
        max_iter: int,
        results: Ending,
        expected: float = -math.inf,
        state: State = NOT_BEGUN,
        keep: Callable[[State], None] = lambda state: None,
    ):
        self.problem = problem
        self.stop = stop
        self.max_iter = max_iter
        self.results = results
        self._expected = expected
        self.state = state
        self._keep = keep

    def run(self, start: Start, watched: Watched) -> None:
        """Fit from these seeds, and remember the run if it is the best so far.

        If a restart was under way in `state`, it goes on from there.
        """
        self.consider(self._fitted(start, watched, self.state))

    def run_side_by_side(self, starts: list[Start], n_threads: int) -> None:
        """Fit from all of these, several at a time, as if it were one after another."""
        waiting, stop = SimpleQueue[tuple[int, Start]](), threading.Event()
        complete: dict[int, Run] = {}
        failures: dict[int, BaseException] = {}
        for place, start in enumerate(starts):
            waiting.put((place, start))

        def until_stopped(steps: Iterator[em.Step]) -> Iterator[em.Step]:
            for step in steps:
                yield step
                if stop.is_set():
                    return

        def work() -> None:
            while not stop.is_set():
                try:
                    place, start = waiting.get_nowait()
                except Empty:
                    return
                try:
                    run = self._fitted(start, until_stopped, NOT_BEGUN)
                except BaseException as failure:
                    failures[place] = failure
                    stop.set()
                    return
                if not stop.is_set():
                    complete[place] = run

        helpers = _helpers(work, min(n_threads, len(starts)) - 1)
        try:
            work()
            _join(helpers)
        except BaseException:
            stop.set()
            _join(helpers)
            raise
        finally:
            for place in sorted(complete):
                self.consider(complete[place])
        if failures:
            raise failures[min(failures)]

    def _fitted(self, start: Start, watched: Watched, state: State) -> Run:
        run, before = None, state.current
        steps: Iterator[em.Step]
        if before is not None and before.last.iteration > 0:
            # Its last step is yielded and recorded once more.
            following = em.resume(self.problem, before.last, self.stop, self.max_iter)
            steps = chain([before.last], following)
            trace = before.trace[:-1]
            evaluations = before.evaluations - before.last.evaluations
        else:
            seeds = start() if state.seeds is None else state.seeds
            if self.problem.search.is_partial:
                seeds = seeds.assigned()
            self.becomes(replace(self.state, seeds=seeds, current=None))
            steps = em.steps(
                self.problem,
                seeds.means,
                self.stop,
                self.max_iter,
                self._expected,
                seeds.K,
            )
            trace, evaluations = [], seeds.evaluations
        for step in watched(steps):
            trace = [*trace, self.results.traced(step)]
            evaluations += step.evaluations
            run = Run(trace, step, evaluations)
            # One assignment: an interrupt finds the step recorded whole, or not at all.
            self.becomes(replace(self.state, current=run))
        assert run is not None
        theta = self.results.rounded(run.last.theta)
        problem = self.problem.resumed(run.last.search)
        fit = em.finish(problem, theta, run.last.K)
        evaluations += fit.stats.evaluations
        # The clusters of the last step are those of the fit now; what a kernel noted
        # with the old ones is let go.
        last = replace(run.last, K=fit.K)
        return Run(run.trace, last, evaluations, fit)

    def consider(self, run: Run) -> None:
        """Remember a complete restart, and keep it if it is the best so far."""
        state = self.state
        is_best = state.best is None or self._beats(run, state.best)
        self.becomes(
            State(
                (*state.complete, self.results.summarised(run)),
                state.evaluations + run.evaluations,
                run if is_best else state.best,
            )
        )

    def becomes(self, state: State) -> None:
        """Be as far as this, from now on."""
        self.state = state
        self._keep(state)

    def _beats(self, run: Run, best: Run) -> bool:
        assert run.fit is not None and best.fit is not None
        objective = self.results.objective(run.fit)
        to_beat = self.results.objective(best.fit)
        return objective > to_beat + SAME_OBJECTIVE * abs(to_beat)


def _helpers(work: Callable[[], None], count: int) -> list[threading.Thread]:
    """Start threads that work, or as many as the system has to give."""
    errors = np.geterr()

    def as_here() -> None:
        # How numpy is to treat an overflow, for one, is up to every thread.
        with np.errstate(**errors):
            work()

    helpers: list[threading.Thread] = []
    for _ in range(count):
        helper = threading.Thread(target=as_here, daemon=True)
        try:
            helper.start()
        except RuntimeError:
            break
        helpers.append(helper)
    return helpers


def _join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join()
