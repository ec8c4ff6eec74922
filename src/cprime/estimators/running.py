"""Do restarts run side by side, or one by one because someone watches?"""

from collections.abc import Callable, Iterator
from typing import Any

from cprime import em
from cprime.estimators.callbacks import Watch, has_callbacks
from cprime.estimators.outcome import Outcome
from cprime.estimators.progress import Listener, told
from cprime.estimators.restarts import Restarts, Start


def run_restarts(
    estimator: Any,
    restarts: Restarts,
    outcome: Outcome,
    data: dict[str, Any],
    *,
    n_clusters: int,
    n_init: int,
    next_start: Callable[[], Start],
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
    n_clusters, n_init : int
    next_start : callable
        Draws what the next restart needs of random numbers.
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
    if at_once > 1 and not (watched_by_someone or in_order):
        restarts.run_side_by_side([next_start() for _ in range(n_init)], at_once)
        return
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
            n_rows=problem.rows.n_rows,
        )

    for restart in range(n_init):
        if estimator.verbose:
            print(f"Restart {restart + 1} of {n_init}")
        restarts.run(next_start(), watched)
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
