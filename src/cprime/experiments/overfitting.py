"""How far above the truth do the best runs of k-means get?"""

from typing import Any

import numpy as np

from cprime import em
from cprime.experiments import birch
from cprime.experiments.birch import SEEDINGS, C, draw
from cprime.experiments.likelihood import quality
from cprime.experiments.problems import problem_of
from cprime.experiments.published import GRID
from cprime.experiments.settings import Setting
from cprime.theta import Theta


def setting(n_per_cluster: int, n_runs: int, seed: int = 0) -> Setting:
    """Return the setting of some runs on one grid of so many rows."""
    return Setting.of(
        "overfitting", n_per_cluster=n_per_cluster, n_runs=n_runs, seed=seed
    )


def seconds(n_per_cluster: int, n_runs: int, **_: Any) -> float:
    """Return about how long such runs take."""
    return n_runs * (0.01 + 1e-4 * n_per_cluster)


def run(n_per_cluster: int, n_runs: int, seed: int) -> dict[str, Any]:
    """Return L of the k-means run with the highest F on a grid, and of the truth.

    `worst` is L of the run with the lowest F.
    """
    data = draw(GRID, seed, n_per_cluster)
    problem = problem_of(data.data, 1)
    runs = []
    for i in range(n_runs):
        rng = np.random.default_rng([seed, i])
        means = SEEDINGS["greedy"](problem.rows, C, problem.kernel, rng).means
        *_, last = em.steps(problem, means, birch.TOLERANCE, birch.MAX_ITER)
        runs.append(last)
    worst, *_, best = sorted(runs, key=lambda last: last.free_energy)
    true = quality(problem.rows, Theta(data.centers, data.variance)).L
    return {
        "best": quality(problem.rows, best.theta).L,
        "worst": quality(problem.rows, worst.theta).L,
        "truth": true,
    }
