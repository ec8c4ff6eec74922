"""What if the variance is held, as in soft-k-means, and not updated?"""

from typing import Any

import numpy as np

from cprime import em
from cprime.experiments import birch
from cprime.experiments.birch import C, draw
from cprime.experiments.likelihood import quality
from cprime.experiments.problems import problem_of
from cprime.experiments.published import GRID
from cprime.experiments.settings import Setting
from cprime.models import Isotropic
from cprime.seeding import kmeans_plus_plus, random_rows
from cprime.theta import Theta

STARTS = {"k-means++": kmeans_plus_plus, "random rows": random_rows}


def setting(factor: float, start: str, seed: int, n_runs: int) -> Setting:
    """Return runs that hold sigma^2 at a multiple of the true one; 0: update it."""
    return Setting.of("stiffness", factor=factor, start=start, n_runs=n_runs, seed=seed)


def seconds(n_runs: int, **_: Any) -> float:
    """Return about how long such runs take."""
    return 0.1 * n_runs


def run(factor: float, start: str, n_runs: int, seed: int) -> dict[str, Any]:
    """Return L of runs of EM that hold sigma^2 at a multiple of the true one.

    Factor 0 stands for EM that updates it. All are judged with the variance that suits
    their means, phi / (D N).
    """
    data = draw(GRID, seed)
    model = Isotropic(variance=factor * data.variance) if factor > 0 else Isotropic()
    problem = problem_of(data.data, C, model=model)
    likelihoods = []
    for i in range(n_runs):
        rng = np.random.default_rng([seed, i])
        means = STARTS[start](problem.rows, C, problem.kernel, rng).means
        *_, last = em.steps(problem, means, birch.TOLERANCE, birch.MAX_ITER)
        phi = quality(problem.rows, last.theta).phi
        variance = phi / (problem.rows.n_rows * problem.rows.n_features)
        likelihoods.append(quality(problem.rows, Theta(last.theta.means, variance)).L)
    return {"L": likelihoods}
