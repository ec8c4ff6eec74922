"""Seeds are rows, drawn by weight and distance, whatever the order of the rows."""

import numpy as np
import pytest

from cprime import seeding
from cprime.datasets import make_birch_grid
from cprime.kernels import native, reference
from cprime.parallel_seeding import kmeans_parallel
from cprime.rows import MemoryRows

METHODS = [
    seeding.greedy_kmeans_plus_plus,
    seeding.kmeans_plus_plus,
    seeding.sampled_kmeans_plus_plus,
    kmeans_parallel,
    seeding.afk_mc2,
    seeding.random_rows,
]
DATA = make_birch_grid(3, 30, rng=0).data


@pytest.fixture
def seeds(kernel):
    def of_rows(method, X, C=9, weights=None, seed=0):
        rows = MemoryRows(X, weights)
        return method(rows, C, kernel, np.random.default_rng(seed)).means

    return of_rows


@pytest.fixture(params=METHODS, ids=lambda m: m.__name__)
def method(request):
    return request.param


def test_seeds_are_different_rows(seeds, method):
    means = seeds(method, DATA)
    assert {tuple(m) for m in means} <= {tuple(y) for y in DATA}
    assert len({tuple(m) for m in means}) == 9


def test_the_order_of_rows_does_not_matter(seeds, method):
    shuffled = np.random.default_rng(5).permutation(DATA)
    np.testing.assert_array_equal(seeds(method, DATA), seeds(method, shuffled))


def test_a_weight_is_a_repetition(seeds, method):
    weights = np.random.default_rng(6).integers(0, 4, len(DATA))
    repeated = np.random.default_rng(7).permutation(np.repeat(DATA, weights, axis=0))
    np.testing.assert_array_equal(
        seeds(method, DATA, weights=weights.astype(float)), seeds(method, repeated)
    )


@pytest.mark.parametrize("seed", range(20))
def test_rows_without_weight_are_never_seeds(seeds, method, seed):
    weights = np.ones(len(DATA))
    weights[::2] = 0.0
    means = seeds(method, DATA, weights=weights, seed=seed)
    assert not {tuple(m) for m in means} & {tuple(y) for y in DATA[::2]}


def test_heavy_rows_are_drawn_first(seeds, method):
    weights = np.ones(len(DATA))
    weights[17] = 1e9
    firsts = [seeds(method, DATA, 2, weights, seed)[0] for seed in range(20)]
    assert all(np.array_equal(first, DATA[17]) for first in firsts)


def test_identical_rows_are_repeated_only_when_nothing_else_is_left(seeds, method):
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], 10, axis=0)
    means = seeds(method, X, C=5)
    assert len({tuple(m) for m in means[:3]}) == 3
    assert {tuple(m) for m in means} == {tuple(y) for y in X}


@pytest.mark.parametrize(
    "method", [seeding.kmeans_plus_plus, seeding.afk_mc2], ids=["plain", "afk_mc2"]
)
def test_the_second_seed_follows_the_squared_distance(seeds, method):
    # From any first seed the other two rows are drawn in proportion to d^2.
    X = np.array([[0.0], [1.0], [3.0]])
    first_at_zero = [
        means[1, 0]
        for seed in range(3000)
        if (means := seeds(method, X, 2, seed=seed))[0, 0] == 0.0
    ]
    assert len(first_at_zero) > 800
    share = np.mean(np.array(first_at_zero) == 3.0)
    assert share == pytest.approx(0.9, abs=0.04)


def test_random_rows_do_not_look_at_distances(seeds):
    X = np.array([[0.0], [1.0], [1000.0]])
    seconds = [
        means[1, 0]
        for seed in range(3000)
        if (means := seeds(seeding.random_rows, X, 2, seed=seed))[0, 0] == 0.0
    ]
    assert np.mean(np.array(seconds) == 1000.0) == pytest.approx(0.5, abs=0.06)


def test_greedy_seeds_are_better_than_plain_ones(kernel, seeds):
    def mean_loss(method):
        losses = [
            kernel.distances(DATA, seeds(method, DATA, seed=seed)).min(axis=1).sum()
            for seed in range(40)
        ]
        return np.mean(losses)

    assert mean_loss(seeding.greedy_kmeans_plus_plus) < mean_loss(
        seeding.kmeans_plus_plus
    )


def test_evaluations_are_counted():
    def evaluations(method, kernel):
        rows = MemoryRows(DATA)
        return method(rows, 9, kernel, np.random.default_rng(0)).evaluations

    # The reference looks at every row, at each of four trials.
    plain, greedy = seeding.kmeans_plus_plus, seeding.greedy_kmeans_plus_plus
    assert evaluations(plain, reference) == 9 * len(DATA)
    assert evaluations(greedy, reference) == (1 + 8 * 4) * len(DATA)
    for method in (plain, greedy):
        assert len(DATA) < evaluations(method, native) < evaluations(method, reference)


@pytest.mark.parametrize("outlier", [1e17, 1e20])
def test_one_row_far_away_does_not_blur_the_others(seeds, method, outlier):
    X = DATA.copy()
    X[17] = outlier
    means = seeds(method, X)
    assert len({tuple(m) for m in means}) == 9
    np.testing.assert_array_equal(means, seeds(method, X[::-1]))


@pytest.mark.parametrize("offset", [1e8, 1e12])
def test_seeds_do_not_depend_on_the_origin(seeds, method, offset):
    X = np.round(DATA * 1024) / 1024  # exact at either offset
    np.testing.assert_array_equal(seeds(method, X + offset) - offset, seeds(method, X))


def test_equally_good_trials_are_not_told_apart_by_rounding(seeds):
    # On a lattice of 0.1 many trials tie, but not to the bit.
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = 0.1 * rng.integers(-2, 3, size=(12, 2))
        weights = rng.integers(1, 4, size=12)
        np.testing.assert_array_equal(
            seeds(seeding.greedy_kmeans_plus_plus, X, 4, weights.astype(float), seed),
            seeds(
                seeding.greedy_kmeans_plus_plus,
                np.repeat(X, weights, axis=0),
                4,
                seed=seed,
            ),
        )
