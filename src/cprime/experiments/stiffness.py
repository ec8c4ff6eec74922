"""What if the variance is held, as in soft-k-means, and not updated?"""

from typing import Any

import numpy as np

from cprime import em
from cprime.experiments import birch
from cprime.experiments.birch import SEEDINGS, C, draw
from cprime.experiments.likelihood import quality
from cprime.experiments.published import RANDOM
from cprime.experiments.settings import Setting
from cprime.kernels import get_kernel
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.theta import Theta


def setting(factor: float, n_runs: int) -> Setting:
    """Return runs that hold sigma^2 at a multiple of the true one; 0: update it."""
    return Setting.of("stiffness", factor=factor, n_runs=n_runs, seed=0)


def seconds(n_runs: int, **_: Any) -> float:
    """Return about how long such runs take."""
    return 0.15 * n_runs


def run(factor: float, n_runs: int, seed: int) -> dict[str, Any]:
    """Return phi of runs of EM that hold sigma^2 at a multiple of the true one.

    Factor 0 stands for EM that updates it.
    """
    data = draw(RANDOM, seed)
    model = Isotropic(variance=factor * data.variance) if factor > 0 else Isotropic()
    problem = Problem(MemoryRows(data.data), model, Exact(), get_kernel("auto"), C)
    errors, likelihoods = [], []
    for i in range(n_runs):
        rng = np.random.default_rng([seed, i])
        means = SEEDINGS["plain"](problem.rows, C, problem.kernel, rng).means
        *_, last = em.steps(problem, means, birch.TOLERANCE, birch.MAX_ITER)
        # Both are judged by the variance that suits their means.
        found = quality(problem.rows, last.theta)
        errors.append(found.phi)
        variance = found.phi / (problem.rows.n_rows * problem.rows.n_features)
        likelihoods.append(quality(problem.rows, Theta(last.theta.means, variance)).L)
    return {"phi": errors, "L": likelihoods}
