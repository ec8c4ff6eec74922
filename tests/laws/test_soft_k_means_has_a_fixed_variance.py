"""Soft-k-means of stiffness beta is EM with sigma^2 = 1 / (2 beta) held fixed."""

from itertools import pairwise

import numpy as np
import paper
import pytest
from hypothesis import given
from problems import NEVER_CONVERGED, cases, variances

from cprime import KMeans, em
from cprime.models import Isotropic

stiffnesses = variances


def soft_k_means(X, weights, means, stiffness):
    """Return the next means: MacKay's, with one responsibility per row and mean."""
    scores = np.exp(-stiffness * paper.squared_distances(X, means))
    r = weights[:, None] * scores / scores.sum(axis=1, keepdims=True)
    return (r.T @ X) / r.sum(axis=0)[:, None]


@given(case=cases(), stiffness=stiffnesses)
def test_the_variance_stays_and_the_free_energy_still_never_falls(case, stiffness):
    variance = 1 / (2 * stiffness)
    problem = case.problem(Isotropic(variance=variance))
    history = list(em.steps(problem, case.means, NEVER_CONVERGED, max_iter=6))
    for before, after in pairwise(history):
        assert after.theta.covariance == variance
        F = [before.free_energy, after.free_energy]
        assert F[1] >= F[0] - paper.rounding(*F)


@given(case=cases(scattered=False), stiffness=stiffnesses)
def test_the_means_are_those_of_soft_k_means(case, stiffness):
    # Rows near the origin and no stiffness above 1: no responsibility underflows.
    stiffness = min(stiffness, 1.0)
    problem = case.problem(Isotropic(variance=1 / (2 * stiffness)), C_prime=case.C)
    means = case.means
    _, *history = em.steps(problem, means, NEVER_CONVERGED, max_iter=5)
    for step in history:
        means = soft_k_means(case.X, case.weights, means, stiffness)
        assert np.abs(step.theta.means - means).max() <= 1e-12


# Two soft means may come to share all their rows: one is nobody's closest.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(case=cases(gridded=False, spare=3), stiffness=stiffnesses)
def test_a_fit_keeps_it_and_has_the_posterior_of_that_stiffness(case, stiffness):
    variance = 1 / (2 * stiffness)
    kmeans = KMeans(
        case.C,
        init=case.means,
        c_prime=case.C_prime,
        variance=variance,
        max_iter=20,
        kernel=case.kernel_name,
    ).fit(case.rows.X, sample_weight=case.weights)
    assert kmeans.variance_ == variance
    assert set(kmeans.trace_["variance"]) == {variance}
    F = kmeans.trace_["free_energy"]
    assert np.all(np.diff(F) >= -paper.rounding(*F))
    means = kmeans.cluster_centers_.astype(np.float64)
    everything = np.ones((len(case.X), case.C), dtype=bool)
    q = paper.posterior(case.X, means, variance, everything)
    eps = float(np.finfo(case.rows.X.dtype).eps)
    # A log-joint of this size is rounded before it is exponentiated.
    size = np.abs(paper.log_joint(case.X, means, variance)).max()
    error = 2 * eps + 8 * paper.EPS * size
    assert np.abs(kmeans.predict_proba(case.rows.X) - q).max() <= error
