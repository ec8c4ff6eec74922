"""C' = C is EM for the mixture of equal, isotropic Gaussians (Alg. 2)."""

import math
from itertools import pairwise

import numpy as np
import paper
import pytest
from hypothesis import given
from problems import NEVER_CONVERGED, cases

from cprime import KMeans, em
from cprime.models import Isotropic


def expectation_maximization(X, weights, means, variance):
    """Return the next means and variance, and the likelihood of the present ones."""
    joint = paper.log_joint(X, means, variance)
    log_density = np.logaddexp.reduce(joint, axis=1)
    r = np.exp(joint - log_density[:, None]) * weights[:, None]
    centres = (r.T @ X) / r.sum(axis=0)[:, None]
    scatter = np.sum(r * paper.squared_distances(X, centres))
    new_variance = scatter / (X.shape[1] * weights.sum())
    return centres, new_variance, paper.mean(log_density, weights)


def spread(case):
    """Return a sigma^2 under which every mean has a share in every row."""
    return paper.squared_distances(case.X, case.means).mean() / case.D


@given(case=cases(gridded=False, spare=5))
def test_means_variance_and_likelihood_are_those_of_em(case):
    means, variance = case.means, spread(case)
    problem = case.problem(Isotropic(variance_init=variance), C_prime=case.C)
    history = list(em.steps(problem, means, NEVER_CONVERGED, max_iter=6))
    largest = np.abs(case.X).max()
    for before, after in pairwise(history):
        means, variance, likelihood = expectation_maximization(
            case.X, case.weights, means, variance
        )
        _, stats = problem.sweep(before.theta, None)
        assert math.isclose(stats.free_energy / stats.weight, likelihood, abs_tol=1e-10)
        assert np.abs(after.theta.means - means).max() <= 1e-10 * largest
        assert math.isclose(after.theta.covariance, variance, rel_tol=1e-10)


# Means that share all rows merge, and then one is nobody's closest.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(case=cases(gridded=False, spare=5))
def test_a_fit_with_c_prime_none_is_em(case):
    means, variance = case.means, spread(case)
    kmeans = KMeans(
        case.C,
        init=means,
        c_prime=None,
        variance_init=variance,
        max_iter=6,
        tol=0.0,
        kernel=case.kernel_name,
    ).fit(case.rows.X, sample_weight=case.weights)
    for _ in range(kmeans.n_iter_):
        means, variance, _ = expectation_maximization(
            case.X, case.weights, means, variance
        )
    _, _, likelihood = expectation_maximization(case.X, case.weights, means, variance)
    # Centres come out in the dtype of the data, and then define the variance if C = 1.
    coarseness = max(1e-10, float(np.finfo(case.rows.X.dtype).eps))
    error = coarseness * np.abs(case.X).max()
    assert np.abs(kmeans.cluster_centers_ - means).max() <= error
    assert math.isclose(kmeans.variance_, variance, rel_tol=1e-10, abs_tol=error**2)
    if case.rows.X.dtype == np.float64:
        assert math.isclose(kmeans.log_likelihood_, likelihood, abs_tol=1e-10)
        assert kmeans.gap_ == 0.0
