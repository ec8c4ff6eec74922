"""The gap of a fit takes one pass, and is that of the clusters its F is of."""

from dataclasses import replace

import numpy as np
import pytest

from cprime import KMeans, SoftKMeans, bounds
from cprime.kernels import native
from cprime.models import Isotropic
from cprime.theta import Theta

X = np.random.default_rng(0).normal(size=(400, 5))


@pytest.mark.parametrize("C_prime", [1, 2, 5])
def test_a_fit_does_not_search_again_for_the_clusters_its_rows_keep(
    monkeypatch, C_prime
):
    def searched(*args):
        raise AssertionError("The last sweep has found them.")

    monkeypatch.setattr(native, "posterior", searched)
    kmeans = KMeans(9, init=X[:9], c_prime=C_prime, max_iter=3).fit(X)
    monkeypatch.undo()
    assert kmeans.gap_ == kmeans.gap(X)
    assert kmeans.log_likelihood_ == kmeans.free_energy_ + kmeans.gap_


def test_rows_that_keep_all_clusters_lose_nothing():
    assert SoftKMeans(4, init=X[:4], max_iter=3).fit(X).gap_ == 0.0


# From clusters far apart, of which few count, to such that all of them do.
@pytest.mark.parametrize("variance", [1e-3, 0.3, 1.0, 3.0, 30.0, 1e6])
@pytest.mark.parametrize("D", [3, 40])
def test_neither_other_rows_nor_the_vector_unit_change_a_bit(D, variance):
    rng = np.random.default_rng(1)
    means = rng.normal(size=(130, D))
    rows = means[rng.integers(130, size=300)] + 0.3 * rng.normal(size=(300, D))
    # Some rows so far out that float32 cannot tell clusters apart.
    rows[::50] *= 1e9
    coefficients = Isotropic().coefficients(Theta(means, variance))
    K = native.posterior(rows, coefficients, 2).K
    together = native.gaps(rows, K, coefficients)
    alone = [
        native.gaps(rows[i : i + 1], K[i : i + 1], coefficients)[0]
        for i in range(len(rows))
    ]
    assert np.array_equal(together, alone)
    best = native.isa_name()
    try:
        for path in native.isa_names():
            native.use_isa(path)
            assert np.array_equal(native.gaps(rows, K, coefficients), together), path
    finally:
        native.use_isa(best)
    expected = bounds.gap_per_row(rows, coefficients, K=K)
    assert np.allclose(together, expected, rtol=1e-12, atol=0.0)


def test_a_cluster_nobody_may_choose_adds_nothing():
    rng = np.random.default_rng(2)
    rows, means = rng.normal(size=(50, 20)), rng.normal(size=(30, 20))
    coefficients = Isotropic().coefficients(Theta(means, 1.0))
    bias = coefficients.bias.copy()
    bias[7] = -np.inf
    K = native.posterior(rows, coefficients, 1).K
    K[K == 7] = 8
    without = np.delete(np.arange(30), 7)
    fewer = replace(coefficients, means=means[without], bias=coefficients.bias[without])
    found = native.gaps(rows, K, replace(coefficients, bias=bias))
    expected = native.gaps(rows, K - (K > 7), fewer)
    assert np.allclose(found, expected, rtol=1e-12, atol=0.0)
