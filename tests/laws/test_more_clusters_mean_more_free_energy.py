"""At the same Theta, F(K', Theta) <= F(K, Theta) for K' inside K (Sec. 5)."""

import numpy as np
import paper
from hypothesis import given
from hypothesis import strategies as st
from problems import cases, variances

from cprime import KMeans, bounds
from cprime.models import Isotropic
from cprime.theta import Theta


@given(data=st.data(), case=cases(), variance=variances)
def test_a_part_of_k_has_at_most_its_free_energy(data, case, variance):
    coefficients = Isotropic().coefficients(Theta(case.means, variance))
    orders = st.permutations(range(case.C))
    K = np.array([data.draw(orders) for _ in range(len(case.X))])
    F = [
        bounds.free_energy(case.rows, coefficients, K=K[:, :kept], kernel=case.kernel)
        for kept in range(1, case.C + 1)
    ]
    assert np.all(np.diff(F) >= -paper.rounding(*F))


@given(case=cases(), variance=variances)
def test_every_cluster_more_brings_the_bound_closer_to_the_likelihood(case, variance):
    coefficients = Isotropic().coefficients(Theta(case.means, variance))
    counts = range(1, case.C + 1)
    F, gaps = (
        [of(case.rows, coefficients, C_prime=c, kernel=case.kernel) for c in counts]
        for of in (bounds.free_energy, bounds.gap)
    )
    assert np.all(np.diff(F) >= -paper.rounding(*F))
    assert np.all(np.diff(gaps) <= 0.0)
    assert gaps[-1] == 0.0
    L = bounds.log_likelihood(case.rows, coefficients, kernel=case.kernel)
    assert F[-1] == L


@given(case=cases(gridded=False, spare=3))
def test_a_fitted_mixture_says_so_too(case):
    kmeans = KMeans(case.C, init=case.means, kernel=case.kernel_name)
    kmeans.fit(case.rows.X, sample_weight=case.weights)
    counts = [*range(1, case.C + 1), None]
    F = [kmeans.free_energy(case.rows.X, case.weights, c_prime=c) for c in counts]
    assert np.all(np.diff(F) >= -paper.rounding(*F))
    assert F[-1] == kmeans.log_likelihood(case.rows.X, case.weights)


def test_it_rises_visibly_where_clusters_overlap(kernel):
    X = np.random.default_rng(1).normal(size=(30, 2))
    coefficients = Isotropic().coefficients(Theta(X[:4], 1.0))
    F = [
        bounds.free_energy(X, coefficients, C_prime=c, kernel=kernel)
        for c in (1, 2, 3, 4)
    ]
    assert np.all(np.diff(F) > 0.01)
