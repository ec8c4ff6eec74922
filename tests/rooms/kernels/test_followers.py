"""What trials gain is known from lists of rows; seeds are the reference's."""

import numpy as np
import pytest
import scipy.sparse as sp

from cprime.blocks import Block
from cprime.kernels import native, reference


def gaussian(rng, n, D):
    means = 3.0 * rng.standard_normal((20, D))
    return means[rng.integers(20, size=n)] + rng.standard_normal((n, D))


def integers(rng, n, D):
    """Many are as far from one seed as from another."""
    return rng.integers(-2, 3, (n, D)).astype(float)


def copies(rng, n, D):
    """There are fewer different rows than seeds."""
    return gaussian(rng, 40, D)[rng.integers(40, size=n)]


def nearly_copies(rng, n, D):
    return copies(rng, n, D) + 1e-6 * rng.standard_normal((n, D))


def with_outliers(rng, n, D):
    """One seed takes nearly all that was left to lose."""
    X = gaussian(rng, n, D)
    X[:: n // 40] *= 10.0 ** np.linspace(1, 6, len(X[:: n // 40]))[:, None]
    return X


def few_copies(rng, n, D):
    """All different rows are seeds before anything is listed."""
    return gaussian(rng, 10, D)[rng.integers(10, size=n)]


KINDS = [gaussian, integers, copies, few_copies, nearly_copies, with_outliers]


def drawn(kernel, block, n_seeds, n_trials, seed):
    rng = np.random.default_rng(seed)
    line = rng.permutation(block.n_rows)
    first = int(np.flatnonzero(block.weights[line])[0])
    points = rng.random((n_seeds - 1, n_trials))
    return kernel.draw_seeds(block, line, first, points)


@pytest.mark.parametrize("D", [2, 20, 70])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_seeds_are_those_of_the_reference(kind, D, weighted):
    rng = np.random.default_rng(D)
    X = kind(rng, 400, D)
    weights = rng.integers(0, 3, len(X)) * 1.5 if weighted else np.ones(len(X))
    block = Block(X, weights)
    found, _ = drawn(native, block, 150, 7, D)
    expected, _ = drawn(reference, block, 150, 7, D)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("layout", [sp.csr_array, np.asfortranarray, np.float32])
def test_rows_may_lie_anyhow(layout):
    X = gaussian(np.random.default_rng(0), 300, 24).astype(np.float32)
    block, lying = Block(X, np.ones(300)), Block(layout(X), np.ones(300))
    expected, _ = drawn(reference, block, 120, 6, 1)
    np.testing.assert_array_equal(drawn(native, lying, 120, 6, 1)[0], expected)


def test_threads_change_nothing():
    X = gaussian(np.random.default_rng(0), 5000, 30)
    before, found = native.get_num_threads(), []
    try:
        for n_threads in 1, 2, 5:
            native.set_num_threads(n_threads)
            found.append(drawn(native, Block(X, np.ones(5000)), 1200, 9, 0))
    finally:
        native.set_num_threads(before)
    for seeds, evaluations in found[1:]:
        np.testing.assert_array_equal(seeds, found[0][0])
        assert evaluations == found[0][1]


def test_looks_at_pairs_of_rows_once():
    n, n_seeds, n_trials = 2000, 800, 8
    X = gaussian(np.random.default_rng(0), n, 30)
    _, evaluations = drawn(native, Block(X, np.ones(n)), n_seeds, n_trials, 0)
    # Before there are lists, all rows may look at the trials of sixteen seeds.
    assert evaluations < n * (n + 1) / 2 + n * 16 * (n_trials + 1)
    assert evaluations < n * n_seeds * n_trials / 4


def test_gives_up_where_lists_would_be_long():
    """Seeds are far out at first, so half of all rows follow any other."""
    n, rng = 1000, np.random.default_rng(4)
    X = rng.standard_normal((n, 20))
    X[:80] *= 10.0 ** rng.uniform(2, 5, (80, 1))
    block = Block(X, np.ones(n))
    found, evaluations = drawn(native, block, 300, 8, 3)
    expected, _ = drawn(reference, block, 300, 8, 3)
    np.testing.assert_array_equal(found, expected)
    # Looked at pairs more than once.
    assert evaluations > 0.9 * n * n
