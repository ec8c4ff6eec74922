"""F of k-means-C' from its variance and the entropy of q (Prop. 4)."""

import math

import numpy as np
import paper
import pytest
from hypothesis import given
from problems import cases, variances

from cprime import KMeans, bounds
from cprime.theta import Theta


@given(case=cases(spare=0), variance=variances)
def test_before_convergence_it_takes_the_variance_to_come(case, variance):
    K, stats = case.problem().sweep(Theta(case.means, variance), None)
    kept = paper.inside(K.K, case.C)
    q = paper.posterior(case.X, case.means, variance, kept)
    scatter = np.sum(q * paper.squared_distances(case.X, case.means), axis=1)
    variance_new = paper.mean(scatter, case.weights) / case.D
    entropy = paper.mean(paper.entropies(q), case.weights)
    F = bounds.free_energy_of_entropy(variance, entropy, case.C, case.D, variance_new)
    expected = paper.free_energy(case.X, case.weights, case.means, variance, kept)
    assert math.isclose(F, expected, abs_tol=paper.rounding(expected))
    assert math.isclose(stats.entropy / stats.weight, entropy, abs_tol=1e-13)
    assert math.isclose(
        stats.scatter / (case.D * stats.weight), variance_new, rel_tol=1e-12
    )


@pytest.mark.parametrize("c_prime", [1, 2, None])
def test_after_convergence_variance_and_entropy_are_enough(kernel_name, c_prime):
    X = np.random.default_rng(2).normal(size=(80, 2))
    X[::2] += [3.0, 0.0]
    kmeans = KMeans(
        3,
        c_prime=c_prime,
        tol=1e-13,
        max_iter=5000,
        random_state=0,
        kernel=kernel_name,
    ).fit(X)
    assert kmeans.converged_
    q = kmeans.predict_proba(X, c_prime=c_prime)
    entropy = float(np.mean(paper.entropies(q)))
    F = bounds.free_energy_of_entropy(kmeans.variance_, entropy, 3, 2)
    # sigma^2 may still change by a share of tol, D/2 times which is missing here.
    assert math.isclose(F, kmeans.free_energy_, abs_tol=1e-12)
