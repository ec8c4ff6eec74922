"""One run of k-means-C' on the protein data of the KDD Cup 2004."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from cprime import bounds, convergence, em
from cprime.datasets import fetch_kdd_protein
from cprime.datasets.protein import N_ROWS
from cprime.experiments import published
from cprime.experiments.birch import SEEDINGS
from cprime.experiments.likelihood import Quality, quality
from cprime.experiments.problems import problem_of
from cprime.experiments.settings import Setting
from cprime.kernels import get_kernel
from cprime.rows import MemoryRows
from cprime.typing import Array

# L and phi are looked at in each of the first iterations, later in some.
EVERY_UNTIL, THEN_EVERY = 10, 20


def setting(C_prime: int, seed: int, **more: Any) -> Setting:
    """Return the setting of one run.

    Parameters
    ----------
    C_prime, seed : int
    **more
        `C`, `n_iterations`, `seeding`, and `n_rows`: how many rows to take, 0 for all.
    """
    defaults = {
        "seeding": "greedy",
        "C": published.KDD_C,
        "n_iterations": published.KDD_ITERATIONS,
        "n_rows": 0,
    }
    return Setting.of("protein", C_prime=C_prime, seed=seed, **defaults | more)


def seconds(C_prime: int, C: int, n_iterations: int, n_rows: int, **_: Any) -> float:
    """Return about how long one run takes."""
    of_all = (n_rows or N_ROWS) / N_ROWS * C / published.KDD_C
    return of_all * (8.0 + n_iterations * (0.01 + 0.37 * math.sqrt(C_prime / C)))


def run(
    C_prime: int, seed: int, seeding: str, C: int, n_iterations: int, n_rows: int
) -> dict[str, Any]:
    """Return F of every iteration, L and phi of some, and the gap at the end.

    F of an iteration is of the posteriors before its M-step and the parameters after
    it; `gap` is what even the best posteriors on C' clusters lose in the end.
    """
    problem = problem_of(_data(n_rows), C_prime)
    free_energies: list[float] = []
    looked_at: list[int] = []
    seen: list[Quality] = []
    never = convergence.Tolerance(0.0, 0.0)
    means = _seeds(n_rows, C, seeding, seed)
    for step in em.steps(problem, means, never, n_iterations):
        free_energies.append(step.free_energy)
        is_last = step.iteration == n_iterations or bool(step.converged)
        if _is_looked_at(step.iteration) or is_last:
            looked_at.append(step.iteration)
            seen.append(quality(problem.rows, step.theta))
    coefficients = problem.model.coefficients(step.theta)
    return {
        "F": free_energies,
        "iterations": looked_at,
        "L": [of.L for of in seen],
        "phi": [of.phi for of in seen],
        "gap": bounds.gap(
            problem.rows, coefficients, C_prime=C_prime, kernel=problem.kernel
        ),
    }


def _is_looked_at(iteration: int) -> bool:
    return iteration <= EVERY_UNTIL or iteration % THEN_EVERY == 0


@lru_cache(maxsize=1)
def _seeds(n_rows: int, C: int, seeding: str, seed: int) -> Array:
    """Return where all runs with this seed start, whatever their C'."""
    rng = np.random.default_rng([seed, C])
    rows = MemoryRows(_data(n_rows))
    means: Array = SEEDINGS[seeding](rows, C, get_kernel("auto"), rng).means
    return means


@lru_cache(maxsize=1)
def _data(n_rows: int) -> Array:
    X = fetch_kdd_protein()
    return X if n_rows == 0 else X[:: len(X) // n_rows][:n_rows].copy()
