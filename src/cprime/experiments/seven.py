"""Seven overlapping Gaussians, from the truth: where k-means and EM go."""

from typing import Any

import numpy as np

from cprime import convergence, em
from cprime.datasets import Sample, make_seven_gaussians
from cprime.experiments.birch import stretched
from cprime.experiments.likelihood import quality
from cprime.experiments.problems import problem_of
from cprime.experiments.settings import Setting
from cprime.models import Isotropic

# Standard deviation of the clusters.
DEVIATION = 0.415


def setting(
    C_prime: int, n_per_cluster: int, n_iterations: int, deviation: float = DEVIATION
) -> Setting:
    """Return the setting of one run with C' = 1 (k-means) up to 7 (EM)."""
    return Setting.of(
        "seven",
        C_prime=C_prime,
        n_per_cluster=n_per_cluster,
        n_iterations=n_iterations,
        deviation=deviation,
        seed=0,
    )


def draw(n_per_cluster: int, deviation: float = DEVIATION, seed: int = 0) -> Sample:
    """Return the seven clusters, with a standard deviation of our choice."""
    sample = make_seven_gaussians(n_per_cluster, rng=seed)
    if deviation == DEVIATION:
        return sample
    return stretched(sample, deviation / DEVIATION)


def seconds(n_per_cluster: int, n_iterations: int, **_: Any) -> float:
    """Return about how long one run takes."""
    return 5e-6 * n_per_cluster * n_iterations


def run(
    C_prime: int, n_per_cluster: int, n_iterations: int, deviation: float, seed: int
) -> dict[str, Any]:
    """Return F, L and phi of every iteration, and the means at the end.

    EM starts with the true variance, k-means with that of its labels (Eq. 12).
    """
    sample = draw(n_per_cluster, deviation, seed)
    variance = None if C_prime == 1 else sample.variance
    model = Isotropic(variance_init=variance)
    problem = problem_of(sample.data, C_prime, model=model)
    never = convergence.Tolerance(0.0, 0.0)
    steps = list(em.steps(problem, sample.centers, never, n_iterations))
    seen = [quality(problem.rows, step.theta) for step in steps]
    return {
        "F": [step.free_energy for step in steps],
        "L": [of.L for of in seen],
        "phi": [of.phi for of in seen],
        "centers": np.asarray(steps[-1].theta.means).tolist(),
    }
