"""Do restarts run side by side, or one by one because someone watches?"""

from collections.abc import Callable, Iterator
from typing import Any

from cprime import em
from cprime.estimators.callbacks import Watch, has_callbacks
from cprime.estimators.keeping import Keeper
from cprime.estimators.outcome import Attributes, Outcome
from cprime.estimators.progress import Listener, told
from cprime.estimators.restarts import Restarts, Start


def run_restarts(
    estimator: Any,
    restarts: Restarts,
    outcome: Outcome,
    data: dict[str, Any],
    put: Callable[[Attributes], None],
    *,
    n_clusters: int,
    n_init: int,
    next_start: Callable[[], Start],
    seeding: str,
    keeper: Keeper,
    progress: Listener | None = None,
    in_order: bool = False,
) -> None:
    """Run as many restarts as the estimator asks for, telling whoever wants to know.

    Parameters
    ----------
    estimator : estimator
    restarts : Restarts
        Where they are kept.
    outcome : Outcome
    data : dict
        Passed to every callback: `X` and `metadata`.
    put : callable
        Sets the attributes of a fit, also of one that is interrupted.
    n_clusters, n_init : int
    next_start : callable
        Draws what the next restart needs of random numbers.
    seeding : str
        How it finds seeds, as a person is told.
    keeper : Keeper
        Knows how far the fit had come before, and keeps how far it comes.
    progress : callable, optional
        Is told of every iteration.
    in_order : bool, default=False
        Whether restarts must be begun one after another.
    """
    if not (progress is None or callable(progress)):
        raise TypeError(f"progress must be a callable, not {progress!r:.60}.")
    problem = outcome.problem
    at_once = min(n_init, problem.rows.fits_at_once(problem.kernel, n_clusters))
    watched_by_someone = estimator.verbose or has_callbacks(estimator) or progress
    side_by_side = not (watched_by_someone or in_order or keeper.keeps)
    try:
        restarts.state = keeper.restored(problem.rows, n_clusters, seeding)
        restarts.keep = keeper.keep
        if estimator.verbose and keeper.message:
            print(keeper.message)
        if at_once > 1 and side_by_side:
            restarts.run_side_by_side([next_start() for _ in range(n_init)], at_once)
        else:
            if keeper.finished:
                n_init = len(restarts.state.complete)
            _one_by_one(
                estimator, restarts, outcome, data, n_init, next_start, progress
            )
        keeper.finish(restarts.state)
        attributes = outcome.complete(restarts)
    except KeyboardInterrupt:
        keeper.interrupted(restarts.state)
        if known := outcome.interrupted(restarts):
            put({**known, "seeding_": seeding})
        raise
    put({**attributes, "seeding_": seeding})


def _one_by_one(
    estimator: Any,
    restarts: Restarts,
    outcome: Outcome,
    data: dict[str, Any],
    n_init: int,
    next_start: Callable[[], Start],
    progress: Listener | None,
) -> None:
    watch = Watch(
        estimator,
        n_init,
        estimator.max_iter,
        data,
        lambda step: outcome.parameters(step.theta),
    )

    def watched(steps: Iterator[em.Step]) -> Iterator[em.Step]:
        steps = watch.run(steps)
        if estimator.verbose:
            interval = int(getattr(estimator, "verbose_interval", 1))
            steps = _printed(steps, outcome, interval)
        if progress is None:
            return steps
        return told(
            steps,
            progress,
            outcome.measured,
            restart=restart,
            n_init=n_init,
            max_iter=int(estimator.max_iter),
            n_rows=outcome.problem.rows.n_rows,
        )

    for restart in range(n_init):
        # Random numbers are those of all restarts, also of those that are complete.
        start = next_start()
        if restart < len(restarts.state.complete):
            continue
        if estimator.verbose:
            print(f"Restart {restart + 1} of {n_init}")
        restarts.run(start, watched)
        if watch.stopped:
            break
    watch.end()


def _printed(
    steps: Iterator[em.Step], outcome: Outcome, interval: int
) -> Iterator[em.Step]:
    for step in steps:
        if step.iteration % interval == 0 or step.converged:
            measures = outcome.measured(step.free_energy).items()
            told = [f"{name.replace('_', ' ')} {value:.6f}" for name, value in measures]
            if outcome.problem.C_prime < len(step.theta.means):
                told.append(f"{step.changed} rows changed clusters")
            print(f"Iteration {step.iteration}, {', '.join(told)}.")
        if step.converged:
            print(f"Converged at this iteration: {step.converged}.")
        yield step
