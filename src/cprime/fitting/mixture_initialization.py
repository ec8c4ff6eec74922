"""What `init_params` means."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from cprime import convergence, em, lloyd, seeding
from cprime.blas import one_thread
from cprime.checking.random_numbers import next_generator
from cprime.fitting.assignment import (
    GIVEN_ASSIGNMENT,
    seeds_of_assignment,
    theta_of_assignment,
)
from cprime.fitting.initialization import seeding_for
from cprime.fitting.restarts import Start
from cprime.models import Isotropic
from cprime.parallel_seeding import kmeans_parallel
from cprime.problem import Problem
from cprime.rows import Rows
from cprime.search import Exact
from cprime.seeding import Seeds
from cprime.theta import Given
from cprime.typing import Array

SEEDINGS = {
    "k-means++": seeding.greedy_kmeans_plus_plus,
    "greedy-k-means++": seeding.greedy_kmeans_plus_plus,
    "k-means||": kmeans_parallel,
    "sampled-k-means++": seeding.sampled_kmeans_plus_plus,
    "random_from_data": seeding.random_rows,
}
# Seedings that k-means goes on from, before the mixture does.
BEFORE_K_MEANS = {
    "kmeans": seeding.greedy_kmeans_plus_plus,
    "greedy-kmeans": seeding.greedy_kmeans_plus_plus,
    "parallel-kmeans": kmeans_parallel,
    "sampled-kmeans": seeding.sampled_kmeans_plus_plus,
}
NAMES = ("random", *BEFORE_K_MEANS, *SEEDINGS)
# k-means before the mixture ends when it gains less than this, in nats per row: the
# mixture goes on from there, and would leave a better optimum of k-means as well.
MOST_ITERATIONS, LEAST_GAIN = 300, 1e-2


def start(
    init_params: Any, C: int, means: Array | None, problem: Problem, random_state: Any
) -> Start:
    """Return what finds the first means of one restart.

    Random numbers are taken from `random_state` now, rows are looked at when it is
    called: restarts may then start in any order.

    Parameters
    ----------
    init_params : str or array-like of shape (N,)
        Or the cluster of every row.
    C : int
    means : ndarray of shape (C, D), optional
        If given, rows are divided among these.
    problem : Problem
    random_state : RandomState
    """
    rng = next_generator(random_state)
    if means is not None:
        return lambda: Seeds(means, 0)
    rows, kernel = problem.rows, problem.kernel
    name = method(init_params, C, means, rows)
    if name == GIVEN_ASSIGNMENT:
        return lambda: seeds_of_assignment(init_params, C, rows, kernel, "init_params")
    if name in BEFORE_K_MEANS:
        return lambda: _k_means(C, problem, rng, BEFORE_K_MEANS[name])
    if name == "random":
        return lambda: _random_shares(C, problem, rng)
    return lambda: SEEDINGS[name](rows, C, kernel, rng)


def assigned(init_params: Any, C: int, problem: Problem) -> tuple[Problem, Seeds]:
    """Return the problem that starts from the M-step of an assignment, and its seeds.

    What of the parameters was given before stays as it is.

    Parameters
    ----------
    init_params : array-like of shape (N,)
        The cluster of every row.
    C : int
    problem : Problem
    """
    seeds = seeds_of_assignment(
        init_params, C, problem.rows, problem.kernel, "init_params"
    )
    model: Any = problem.model
    theta = model.given.over(theta_of_assignment(problem, seeds))
    given = Given(theta.means, theta.covariance, theta.proportions)
    return replace(problem, model=replace(model, given=given)), seeds


def method(init_params: Any, C: int, means: Array | None, rows: Rows) -> str:
    """Return what `init_params` comes to for these rows, unless means are given."""
    if means is not None:
        return "given means"
    if not isinstance(init_params, str):
        return GIVEN_ASSIGNMENT
    return seeding_for(rows, C, init_params, "init_params")


def _k_means(
    C: int, problem: Problem, rng: np.random.Generator, seeding_of: Callable[..., Seeds]
) -> Seeds:
    rows, kernel = problem.rows, problem.kernel
    seeds = seeding_of(rows, C, kernel, rng)
    hard = Problem(rows, Isotropic(), Exact(), kernel, C_prime=1)
    stop, evaluations = convergence.Gain(LEAST_GAIN), seeds.evaluations
    if lloyd.is_possible(hard, stop, C, np.float64):
        ended: list[lloyd.Ended | None] = []
        lloyd.fits(hard, stop, MOST_ITERATIONS, seeds.means[None], np.float64, ended)
        if ended[0] is not None:
            return Seeds(ended[0].last.theta.means, evaluations + ended[0].of_steps)
    for step in em.steps(hard, seeds.means, stop, MOST_ITERATIONS):
        evaluations += step.evaluations
    return Seeds(step.theta.means, evaluations)


@one_thread()
def _random_shares(C: int, problem: Problem, rng: np.random.Generator) -> Seeds:
    """Return means of all rows, each divided among the clusters at random."""
    shares = rng.uniform(size=(problem.rows.n_rows, C))
    shares /= shares.sum(axis=1, keepdims=True)

    def sums(values: Array, weights: Array, shares: Array) -> Array:
        of_rows = np.concatenate([np.ones((len(values), 1)), values], axis=1)
        found: Array = (weights[:, None] * shares).T @ of_rows
        return found

    totals = problem.rows.reduce(sums, shares)
    return Seeds(totals[:, 1:] / totals[:, :1], 0)
