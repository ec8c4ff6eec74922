"""One run of k-means-C' on the protein data of the KDD Cup 2004."""

from functools import lru_cache
from typing import Any

import numpy as np

from cprime import em
from cprime.datasets import fetch_kdd_protein
from cprime.experiments import published
from cprime.experiments.likelihood import quality
from cprime.experiments.settings import Setting
from cprime.kernels import get_kernel
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.seeding import greedy_kmeans_plus_plus
from cprime.typing import Array

# L and phi are looked at in each of the first iterations, later in every fifth.
EVERY_UNTIL, THEN_EVERY = 20, 5


def setting(C_prime: int, seed: int, **more: Any) -> Setting:
    """Return the setting of one run.

    Parameters
    ----------
    C_prime, seed : int
    **more
        `C`, `n_iterations`, and `n_rows`: how many rows to take, 0 for all.
    """
    defaults = {
        "C": published.KDD_C,
        "n_iterations": published.KDD_ITERATIONS,
        "n_rows": 0,
    }
    return Setting.of("protein", C_prime=C_prime, seed=seed, **defaults | more)


def run(
    C_prime: int, seed: int, C: int, n_iterations: int, n_rows: int
) -> dict[str, Any]:
    """Return F of every iteration, and L and phi of some."""
    problem = Problem(
        MemoryRows(_data(n_rows)), Isotropic(), Exact(), get_kernel("auto"), C_prime
    )
    rng = np.random.default_rng([seed, C])
    means = greedy_kmeans_plus_plus(problem.rows, C, problem.kernel, rng).means
    free_energies: list[float] = []
    looked_at: list[int] = []
    likelihoods: list[float] = []
    errors: list[float] = []
    never = em.Tolerance(0.0, 0.0)
    for step in em.steps(problem, means, never, n_iterations):
        free_energies.append(step.free_energy)
        is_last = step.iteration == n_iterations or bool(step.converged)
        if _is_looked_at(step.iteration) or is_last:
            found = quality(problem.rows, step.theta)
            looked_at.append(step.iteration)
            likelihoods.append(found.L)
            errors.append(found.phi)
    return {
        "F": free_energies,
        "iterations": looked_at,
        "L": likelihoods,
        "phi": errors,
    }


def _is_looked_at(iteration: int) -> bool:
    return iteration <= EVERY_UNTIL or iteration % THEN_EVERY == 0


@lru_cache(maxsize=1)
def _data(n_rows: int) -> Array:
    X = fetch_kdd_protein()
    return X if n_rows == 0 else X[:: len(X) // n_rows][:n_rows].copy()
