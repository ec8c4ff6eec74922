"""How far apart are the formulas of one free energy?"""

from typing import Any

import numpy as np

from cprime import bounds, convergence, em
from cprime.experiments.birch import MAX_ITER, SEEDINGS, C, draw
from cprime.experiments.problems import problem_of
from cprime.experiments.settings import Setting
from cprime.problem import Problem

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
    Prop. 4 where the run has converged. `wrong` has how far apart they are if something
    is mistaken: by that much a comparison can tell.
    """
    data = draw(kind, seed).data
    problem = problem_of(data, C_prime)
    rng = np.random.default_rng([seed, 0])
    means = SEEDINGS["greedy"](problem.rows, C, problem.kernel, rng).means
    steps = list(em.steps(problem, means, TOLERANCE, MAX_ITER))
    N, D = problem.rows.n_rows, problem.rows.n_features
    apart = [0.0]
    wrong: dict[str, float] = {}
    if C_prime == 1:
        wrong = _mistaken(problem, steps)
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
        "wrong": wrong if C_prime == 1 else _mistaken_at_end(problem, steps, by_eq_7),
    }


def _mistaken(problem: Problem, steps: list[em.Step]) -> dict[str, float]:
    """Return how far from F of k-means Prop. 3 is where something is mistaken."""
    N, D = problem.rows.n_rows, problem.rows.n_features
    first, second = steps[0], steps[1]

    def by_prop_3(variance: float) -> float:
        return bounds.free_energy_of_variance(variance, C, D)

    coefficients = problem.model.coefficients(second.theta)
    of_two = bounds.free_energy(problem.rows, coefficients, C_prime=2)
    anew = bounds.free_energy(problem.rows, coefficients, C_prime=1)
    variance = float(second.theta.covariance)
    right = second.free_energy
    return {
        "sigma^2 of the iteration before": abs(
            right - by_prop_3(float(first.theta.covariance))
        ),
        "labels after the M-step": abs(anew - by_prop_3(variance)),
        "two clusters a row": abs(of_two - by_prop_3(variance)),
        "sigma^2 divided by N - C": abs(right - by_prop_3(variance * N / (N - C))),
    }


def _mistaken_at_end(
    problem: Problem, steps: list[em.Step], right: float
) -> dict[str, float]:
    """Return how far from F of k-means-C' Prop. 4 is where something is mistaken."""
    N, D = problem.rows.n_rows, problem.rows.n_features
    last = em.finish(problem, steps[-1].theta, steps[-1].K)
    entropy = last.stats.entropy / last.stats.weight
    variance = float(last.theta.covariance)

    def by_prop_4(variance: float, entropy: float) -> float:
        return bounds.free_energy_of_entropy(variance, entropy, C, D)

    early = em.finish(problem, steps[1].theta, steps[1].K)
    of_early = bounds.free_energy(
        problem.rows,
        problem.model.coefficients(early.theta),
        C_prime=problem.C_prime,
    )
    by_early = by_prop_4(
        float(early.theta.covariance), early.stats.entropy / early.stats.weight
    )
    return {
        "without the entropy": abs(right - by_prop_4(variance, 0.0)),
        "twice the entropy": abs(right - by_prop_4(variance, 2.0 * entropy)),
        "sigma^2 divided by N - C": abs(
            right - by_prop_4(variance * N / (N - C), entropy)
        ),
        "before convergence": abs(of_early - by_early),
    }
