"""Sums over a coreset are in expectation sums over all rows; Bachem et al. 2018."""

import math

import numpy as np
import pytest

from cprime import coreset
from cprime.datasets import make_birch_random

N_DRAWN = 200


@pytest.fixture(scope="module")
def X():
    return make_birch_random(8, 100, rng=3).data


def objective(rows, weights, means):
    squared = ((rows[:, None] - means) ** 2).sum(axis=-1)
    return float(weights @ squared.min(axis=1))


@pytest.fixture(scope="module")
def queries(X):
    """Means of all kinds: some rows, and places without any."""
    rng = np.random.default_rng(0)
    near = [X[rng.choice(len(X), C, replace=False)] for C in (1, 3, 8)]
    return [*near, rng.uniform(-60.0, 90.0, size=(4, 2))]


def test_sums_are_those_of_all_rows_on_average(X, queries):
    drawn = [coreset(X, 60, random_state=seed) for seed in range(N_DRAWN)]
    ones = np.ones(len(X))
    for sums, right in (
        ([of.weights.sum() for of in drawn], len(X)),
        ([of.weights @ of.rows[:, 0] for of in drawn], X[:, 0].sum()),
        *(
            ([objective(*of, means) for of in drawn], objective(X, ones, means))
            for means in queries
        ),
    ):
        error = np.std(sums, ddof=1) / math.sqrt(N_DRAWN)
        assert abs(np.mean(sums) - right) < 4.0 * error


@pytest.mark.parametrize("m", [100, 1000])
def test_the_objective_is_within_its_bound_for_all_means(X, queries, m):
    ones, center = np.ones(len(X)), X.mean(axis=0, keepdims=True)
    # Hoeffding's inequality, of draws that are at most 32 times their mean (Lemma 1
    # there), for one query.
    eps = 32.0 * math.sqrt(math.log(2.0 / 1e-6) / (2.0 * m))
    for seed in range(10):
        of = coreset(X, m, random_state=seed)
        for means in queries:
            right = objective(X, ones, means)
            allowed = 0.5 * eps * (right + objective(X, ones, center))
            assert abs(objective(*of, means) - right) <= allowed


def test_errors_shrink_with_the_root_of_the_draws(X, queries):
    right = objective(X, np.ones(len(X)), queries[2])

    def error(m):
        found = [
            objective(*coreset(X, m, random_state=s), queries[2]) for s in range(60)
        ]
        return np.sqrt(np.mean((np.array(found) - right) ** 2))

    assert error(50) / error(800) == pytest.approx(4.0, rel=0.4)


def test_weights_are_repetitions_and_order_is_nothing(X):
    rng = np.random.default_rng(1)
    # Whole numbers, whose sums are exact in any order.
    X = np.round(X)
    times = rng.integers(0, 4, size=len(X))
    weighted = coreset(X, 100, sample_weight=times, random_state=0)
    repeated = np.repeat(X, times, axis=0)
    shuffled = repeated[rng.permutation(len(repeated))]
    for rows in (repeated, shuffled):
        same = coreset(rows, 100, random_state=0)
        np.testing.assert_array_equal(same.rows, weighted.rows)
        np.testing.assert_allclose(same.weights, weighted.weights, rtol=1e-12)
