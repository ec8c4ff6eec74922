"""Many runs of one algorithm on one BIRCH set, seen from the truth."""

from functools import lru_cache
from typing import Any

import numpy as np

from cprime import bounds, convergence, em
from cprime.datasets import Sample, make_birch_grid, make_birch_random
from cprime.experiments import published
from cprime.experiments.problems import problem_of
from cprime.experiments.published import GRID, K_MEANS, K_MEANS_C, LAZY, MEASURES
from cprime.experiments.scores import normalized_mutual_information, purity
from cprime.experiments.settings import Setting
from cprime.kernels import get_kernel
from cprime.models import Isotropic
from cprime.seeding import greedy_kmeans_plus_plus, kmeans_plus_plus, random_rows
from cprime.theta import Theta
from cprime.typing import Array

C = 25
N_RUNS = 100
SEEDINGS = {"greedy": greedy_kmeans_plus_plus, "plain": kmeans_plus_plus}
STARTS = {**SEEDINGS, "rows": random_rows}
COLUMNS = (*MEASURES, "F", "L_init", "F_init", "missed", "iterations")
# C' and epsilon of the algorithms in Table S1.
ALGORITHMS = {K_MEANS: (1, 0.0), K_MEANS_C: (2, 0.0), LAZY: (1, 0.1)}
# Where runs stop, L is within 2e-5 nats of where it would end.
TOLERANCE = convergence.Tolerance(shift=1e-6, log_variance=1e-6)
MAX_ITER = 1000
# Sets from which the one most like the published one is chosen, by its truth alone.
N_CANDIDATES = 1000


def setting(kind: str, seed: int, C_prime: int = 1, **more: Any) -> Setting:
    """Return the setting of some runs on the set of this kind drawn with this seed.

    Parameters
    ----------
    kind : {"grid", "random"}
    seed : int
    C_prime : int
    **more
        `eps` of lazy-k-means, `seeding`, `n_runs`; `n_steps`: how many iterations are
        followed one by one, none by default; `held`: sigma^2 as it is held, 0 to update
        it; `deviation`: of the clusters, 1 as in the paper.
    """
    defaults = {
        "eps": 0.0,
        "seeding": "greedy",
        "n_runs": N_RUNS,
        "n_steps": 0,
        "held": 0.0,
        "deviation": 1.0,
    }
    return Setting.of("birch", kind=kind, seed=seed, C_prime=C_prime, **defaults | more)


def draw(
    kind: str, seed: int, n_per_cluster: int = 100, deviation: float = 1.0
) -> Sample:
    """Return a BIRCH set of 25 clusters."""
    if kind == GRID:
        sample = make_birch_grid(5, n_per_cluster, rng=seed)
    else:
        sample = make_birch_random(C, n_per_cluster, rng=seed)
    return sample if deviation == 1.0 else stretched(sample, deviation)


def stretched(sample: Sample, factor: float) -> Sample:
    """Return the same draws with clusters wider by a factor, about their centres."""
    centers = sample.centers[sample.labels]
    data = centers + factor * (sample.data - centers)
    return sample._replace(data=data, variance=factor**2 * sample.variance)


def seconds(C_prime: int, n_runs: int, n_steps: int, **_: Any) -> float:
    """Return about how long such runs take."""
    return n_runs * (0.01 + 0.0008 * min(C_prime, 12) + 0.007 * n_steps)


def run(
    kind: str,
    seed: int,
    C_prime: int,
    eps: float,
    seeding: str,
    n_runs: int,
    n_steps: int,
    held: float,
    deviation: float,
) -> dict[str, Any]:
    """Run an algorithm from many starts, until it has converged.

    Returns
    -------
    result : dict
        For every run its last L, F, phi, purity and nmi, L and F of its start, how many
        true clusters it missed, and its iterations; the means of the run with the
        highest L; and, with `n_steps`, `traces` of the first five, run by run.
    """
    sample = draw(kind, seed, deviation=deviation)
    model = Isotropic(variance=held) if held > 0.0 else None
    problem = problem_of(sample.data, C_prime, model=model, eps=eps)
    results: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    traces: dict[str, list[list[float]]] = {name: [] for name in (*MEASURES, "F")}
    centers: list[Array] = []
    for i in range(n_runs):
        # The same starts for every algorithm.
        rng = np.random.default_rng([seed, i])
        means = STARTS[seeding](problem.rows, C, problem.kernel, rng).means
        steps = list(em.steps(problem, means, TOLERANCE, MAX_ITER))
        last = steps[-1]
        of_run = {
            **assess(sample, last.theta),
            "F": last.free_energy,
            "L_init": _likelihood(sample, steps[0].theta),
            "F_init": steps[0].free_energy,
            "missed": count_missed(sample.centers, last.theta.means),
            "iterations": last.iteration,
        }
        for name in COLUMNS:
            results[name].append(of_run[name])
        centers.append(last.theta.means)
        if n_steps > 0:
            # A run that has converged stays where it is.
            followed = (steps + [last] * n_steps)[: n_steps + 1]
            seen = [{**assess(sample, s.theta), "F": s.free_energy} for s in followed]
            for name in traces:
                traces[name].append([line[name] for line in seen])
    best = int(np.argmax(results["L"]))
    return {
        **results,
        "centers": centers[best].tolist(),
        **({"traces": traces} if n_steps > 0 else {}),
    }


def assess(sample: Sample, theta: Theta) -> dict[str, float]:
    """Return how good parameters are: L, phi, and purity and NMI of their labels."""
    coefficients = Isotropic().coefficients(theta)
    nearest = get_kernel("auto").posterior(sample.data, coefficients, 1)
    labels = nearest.K[:, 0]
    return {
        "L": _likelihood(sample, theta),
        "phi": float(nearest.distances.sum()),
        "purity": purity(sample.labels, labels),
        "nmi": normalized_mutual_information(sample.labels, labels),
    }


def truth(sample: Sample) -> dict[str, float]:
    """Return the same of the parameters the sample was drawn with."""
    return assess(sample, Theta(sample.centers, sample.variance))


def count_missed(true_centers: Array, means: Array) -> int:
    """Return how many true centres are not the nearest one to any of the means."""
    distances = ((means[:, None] - true_centers) ** 2).sum(axis=-1)
    return len(true_centers) - len(np.unique(distances.argmin(axis=1)))


@lru_cache
def truths(kind: str, n_sets: int) -> list[dict[str, float]]:
    """Return what the true parameters come to, on sets drawn with seeds 0, 1, ..."""
    return [truth(draw(kind, seed)) for seed in range(n_sets)]


def most_like_published(kind: str, n_candidates: int = N_CANDIDATES) -> int:
    """Return the seed of the set whose truth is closest to the published one.

    Nothing that an algorithm finds has a say in it. Differences in L, phi, purity and
    NMI count in units of their spread over all candidates.
    """
    found = truths(kind, n_candidates)
    table = np.array([[of[name] for name in MEASURES] for of in found])
    wanted = np.array([published.TRUTH[kind][name] for name in MEASURES])
    differences = (table - wanted) / table.std(axis=0)
    return int(np.argmin((differences**2).sum(axis=1)))


def _likelihood(sample: Sample, theta: Theta) -> float:
    coefficients = Isotropic().coefficients(theta)
    return bounds.log_likelihood(sample.data, coefficients, kernel=get_kernel("auto"))
