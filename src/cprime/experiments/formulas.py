"""How far apart are the formulas of one free energy?"""

from typing import Any

import numpy as np

from cprime import bounds, convergence, em
from cprime.experiments.birch import MAX_ITER, SEEDINGS, C, draw
from cprime.experiments.problems import problem_of
from cprime.experiments.settings import Setting

# Formulas that agree at convergence agree as closely as a run has converged.
TOLERANCE = convergence.Tolerance(shift=1e-10, log_variance=1e-10)


def setting(kind: str, C_prime: int, seed: int) -> Setting:
    """Return the setting of one run on a BIRCH set."""
    return Setting.of("formulas", kind=kind, C_prime=C_prime, seed=seed)


def seconds(**_: Any) -> float:
    """Return about how long one run takes."""
    return 0.2


def run(kind: str, C_prime: int, seed: int) -> dict[str, Any]:
    """Return, over the iterations of one run, how far formulas of F are apart.

    For k-means Eq. 7, Prop. 3 and Cor. 2 in every iteration; for all C' Eq. 7 and
    Prop. 4 where the run has converged.
    """
    data = draw(kind, seed).data
    problem = problem_of(data, C_prime)
    rng = np.random.default_rng([seed, 0])
    means = SEEDINGS["greedy"](problem.rows, C, problem.kernel, rng).means
    steps = list(em.steps(problem, means, TOLERANCE, MAX_ITER))
    N, D = problem.rows.n_rows, problem.rows.n_features
    apart = [0.0]
    if C_prime == 1:
        for step in steps[1:]:
            coefficients = problem.model.coefficients(step.theta)
            by_eq_7 = bounds.free_energy(problem.rows, coefficients, K=step.K.K)
            labels = step.K.K[:, 0]
            error = float(np.sum((data - step.theta.means[labels]) ** 2))
            by_prop_3 = bounds.free_energy_of_variance(step.theta.covariance, C, D)
            by_cor_2 = bounds.free_energy_of_quantization_error(error, N, C, D)
            apart.append(np.ptp([by_eq_7, by_prop_3, by_cor_2, step.free_energy]))
    last = em.finish(problem, steps[-1].theta, steps[-1].K)
    by_eq_7 = bounds.free_energy(
        problem.rows, problem.model.coefficients(last.theta), C_prime=C_prime
    )
    by_prop_4 = bounds.free_energy_of_entropy(
        last.theta.covariance, last.stats.entropy / last.stats.weight, C, D
    )
    return {
        "iterations": steps[-1].iteration,
        "every": float(max(apart)),
        "converged": abs(by_eq_7 - by_prop_4),
    }
