"""Rows that keep several clusters keep the reference's, whichever search finds them.

How many clusters there are, how many are kept and how many features rows have decides
which registers and groups a search goes through: every edge of those is here.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from every_kernel import KERNELS

from cprime.blocks import LEAF_ROWS, Block
from cprime.kernels import get_kernel, reference
from cprime.search import Plan
from cprime.theta import Coefficients

others = pytest.mark.parametrize("name", [k for k in KERNELS if k != "reference"])
# Lanes and panels are multiples of 4 to 48, a group of clusters at once is 240 wide.
CLUSTERS = [3, 4, 15, 16, 17, 49, 100, 240, 241, 500]
KEPT = [2, 3, 4, 5, 6, 7, 8, 10, 11, 15, 16, 17]


def scattered(rng, N, D, C):
    means = 3.0 * rng.standard_normal((C, D))
    return means[rng.integers(C, size=N)] + rng.standard_normal((N, D)), means


def tied(rng, N, D, C):
    """Rows and means on few places: most distances are equal to others."""
    return rng.integers(-2, 3, (N, D)) / 2.0, rng.integers(-2, 3, (C, D)) / 2.0


def far(rng, N, D, C):
    """Rows so far out that float32 cannot tell clusters apart, or score them."""
    X, means = scattered(rng, N, D, C)
    X[::3] *= 1e7
    X[1::7] *= 1e30
    return X, means


PLACES = {"scattered": scattered, "tied": tied, "far": far}


def assert_same(name, X, means, C_prime, bias=None):
    """Compare two sweeps, of which the second begins where the first ends."""
    C = len(means)
    weights = np.random.default_rng(1).integers(0, 3, X.shape[0]).astype(float)
    block = Block(X, weights)
    bias = np.zeros(C) if bias is None else bias
    coefficients = Coefficients(bias=bias, means=means, whitening=1.3)
    moved = Coefficients(bias=bias, means=means * 1.01, whitening=1.3)
    found = expected = None
    for of_sweep in (coefficients, moved):
        found, sums = get_kernel(name).sweep(block, found, of_sweep, Plan(), C_prime)
        expected, reference_sums = reference.sweep(
            block, expected, of_sweep, Plan(), C_prime
        )
        assert np.array_equal(found.K, expected.K)
        stats, wanted = sums.total(), reference_sums.total()
        assert stats.changed == wanted.changed
        assert stats.weight == wanted.weight
        # Shifts are differences of large numbers: the sum of their sizes counts.
        size = np.abs(np.asarray(block.dense(slice(None)))).sum() + 1.0
        assert np.allclose(stats.counts, wanted.counts, rtol=1e-11, atol=1e-10)
        assert np.allclose(stats.shifts, wanted.shifts, rtol=0, atol=1e-11 * size)
        for of in ("scatter", "quantization_error", "free_energy"):
            one, other = getattr(stats, of), getattr(wanted, of)
            assert np.isclose(one, other, rtol=1e-11, atol=1e-8), of
        assert abs(stats.entropy - wanted.entropy) <= 1e-12 * (wanted.weight + 1)


@others
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("C", CLUSTERS)
def test_any_number_of_clusters(name, places, C):
    rng = np.random.default_rng(C)
    for C_prime in sorted({min(k, C - 1) for k in KEPT} | {C - 1}):
        if C_prime < 20 or C < 60:
            assert_same(name, *PLACES[places](rng, 83, 3, C), C_prime)


@others
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("D", [1, 2, 3, 4, 5, 7, 8, 9, 16, 33])
def test_any_number_of_features(name, places, D):
    rng = np.random.default_rng(D)
    for C_prime in (2, 5, 12):
        assert_same(name, *PLACES[places](rng, 67, D, 40), C_prime)


@others
def test_any_number_of_rows_and_any_layout(name):
    rng = np.random.default_rng(0)
    for N in (1, 7, 16, 17, 63, 64, 65, LEAF_ROWS + 1):
        X, means = scattered(rng, N, 4, 20)
        X[:, 1] = 0.0
        for layout in (
            X,
            X.astype(np.float32),
            np.asfortranarray(X),
            sp.csr_matrix(X),
            sp.csr_matrix(X.astype(np.float32)),
        ):
            assert_same(name, layout, means, 3)


@others
def test_clusters_with_handicaps(name):
    rng = np.random.default_rng(0)
    X, means = tied(rng, 200, 2, 30)
    bias = np.log(rng.dirichlet(np.ones(30)))
    for C_prime in (2, 6, 11, 29):
        assert_same(name, X, means, C_prime, bias)


@others
def test_so_many_equally_close_that_no_list_has_room(name):
    X, means = np.zeros((40, 2)), np.ones((300, 2))
    assert_same(name, X, means, 3)
    assert_same(name, X, means[:230], 3)
