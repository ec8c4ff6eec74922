"""What `init` and `n_init` mean."""

from typing import Any

import numpy as np

from cprime import seeding
from cprime.estimators import inputs
from cprime.estimators.restarts import Start
from cprime.estimators.training import Training
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


class Starts:
    """Finds where one restart after another begins.

    Parameters
    ----------
    init : str, callable or array-like
    C : int
    training : Training
    random_state : RandomState
    """

    def __init__(self, init: Any, C: int, training: Training, random_state: Any):
        self._init = init
        self._C = C
        self._training = training
        self._random_state = random_state

    def next(self) -> Start:
        """Return what finds the first means of the next restart, in computing units.

        Random numbers are taken now, rows are looked at when it is called: restarts may
        then start in any order.
        """
        init, C, training = self._init, self._C, self._training
        if isinstance(init, str):
            entropy = self._random_state.randint(2**31 - 1, size=4)
            rng = np.random.default_rng(entropy)
            return lambda: SEEDINGS[init](training.rows, C, training.kernel, rng)
        if callable(init):
            init = init(training.X, C, random_state=self._random_state)
        means = inputs.checked_means(init, C, training.X)
        training.units.refuse_far(means, "init")
        return lambda: Seeds(training.units.means_in(means), 0)
