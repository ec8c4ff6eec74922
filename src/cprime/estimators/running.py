"""Do restarts run side by side, or one by one because someone watches?"""

from collections.abc import Iterator
from typing import Any

from sklearn.utils import check_random_state

from cprime import em
from cprime.estimators.callbacks import Watch, has_callbacks
from cprime.estimators.outcome import Outcome
from cprime.estimators.restarts import Restarts, Start
from cprime.estimators.starts import n_restarts, start


def run_restarts(
    estimator: Any, restarts: Restarts, outcome: Outcome, data: dict[str, Any]
) -> None:
    """Run as many restarts as the estimator asks for, telling whoever wants to know.

    Parameters
    ----------
    estimator : KMeans
    restarts : Restarts
        Where they are kept.
    outcome : Outcome
    data : dict
        Passed to every callback: `X` and `metadata`.
    """
    C, problem = int(estimator.n_clusters), outcome.problem
    n_init = n_restarts(estimator)
    random_state = check_random_state(estimator.random_state)

    def next_start() -> Start:
        return start(estimator.init, C, data["X"], outcome, random_state)

    at_once = min(n_init, problem.rows.fits_at_once(problem.kernel, C))
    if at_once > 1 and not _is_watched(estimator):
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
        return _printed(steps, outcome) if estimator.verbose else steps

    for restart in range(n_init):
        if estimator.verbose:
            print(f"Restart {restart + 1} of {n_init}")
        restarts.run(next_start(), watched)
        if watch.stopped:
            break
    watch.end()


def _is_watched(estimator: Any) -> bool:
    """Return whether anyone expects to see restarts in their order.

    That includes an `init` of a person's own, which may count how often it was called.
    """
    return bool(
        estimator.verbose or has_callbacks(estimator) or callable(estimator.init)
    )


def _printed(steps: Iterator[em.Step], outcome: Outcome) -> Iterator[em.Step]:
    for step in steps:
        print(
            f"Iteration {step.iteration}, "
            f"free energy {outcome.log_density(step.free_energy):.6f}, "
            f"{step.changed} rows changed clusters."
        )
        if step.converged:
            print(f"Converged at this iteration: {step.converged}.")
        yield step
