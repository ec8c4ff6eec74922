"""What `init` and `n_init` mean."""

from typing import Any

import numpy as np

from cprime import seeding
from cprime.estimators import inputs
from cprime.estimators.outcome import Outcome
from cprime.estimators.restarts import Start
from cprime.estimators.warn import warn
from cprime.seeding import Seeds

SEEDINGS = {
    "k-means++": seeding.greedy_kmeans_plus_plus,
    "plain-k-means++": seeding.kmeans_plus_plus,
    "afk-mc2": seeding.afk_mc2,
    "random": seeding.random_rows,
}


def n_restarts(estimator: Any) -> int:
    """Return how many restarts the estimator's `init` and `n_init` ask for."""
    init, n_init = estimator.init, estimator.n_init
    if not (isinstance(init, str) or callable(init)):
        if n_init not in ("auto", 1):
            warn(
                "Explicit initial center position passed: performing only one init in "
                f"{type(estimator).__name__} instead of n_init={n_init}.",
                RuntimeWarning,
            )
        return 1
    if n_init != "auto":
        return int(n_init)
    return 10 if callable(init) or init == "random" else 1


def start(init: Any, C: int, X: Any, outcome: Outcome, random_state: Any) -> Start:
    """Return what finds the first means of one restart, in computing units.

    Random numbers are taken from `random_state` now, rows are looked at when it is
    called: restarts may then start in any order.

    Parameters
    ----------
    init : str, callable or array-like
    C : int
    X : as a person gave it, for a callable to look at
    outcome : Outcome
        Of the fit to come: its rows, kernel and units.
    random_state : RandomState
    """
    if isinstance(init, str):
        rng = np.random.default_rng(random_state.randint(2**31 - 1, size=4))
        problem = outcome.problem
        return lambda: SEEDINGS[str(init)](problem.rows, C, problem.kernel, rng)
    if callable(init):
        init = init(X, C, random_state=random_state)
    means = inputs.checked_means(init, C, X)
    outcome.units.refuse_far(means, "init")
    return lambda: Seeds(outcome.units.means_in(means), 0)
