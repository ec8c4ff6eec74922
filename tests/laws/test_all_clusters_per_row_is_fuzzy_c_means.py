"""With C' = C and no regularisation every step is Bezdek's fuzzy c-means."""

import fuzzy
import numpy as np
import paper
import pytest
from hypothesis import assume, given
from problems import NEVER_CONVERGED, cases

from cprime import FuzzyKMeans, em
from cprime.kernels.memberships import Bezdek


def memberships(X, means, m):
    """Return u_c = 1 / sum_k (d_c / d_k)^(2 / (m - 1)), row by row, as published."""
    d = np.sqrt(paper.squared_distances(X, means))
    u = np.zeros_like(d)
    for n, row in enumerate(d):
        if row.min() == 0.0:
            u[n] = (row == 0.0) / np.sum(row == 0.0)
        else:
            u[n] = [1.0 / np.sum((c / row) ** (2.0 / (m - 1.0))) for c in row]
    return u


def fuzzy_c_means(X, weights, means, m):
    """Return the next means."""
    shares = weights[:, None] * memberships(X, means, m) ** m
    counts = shares.sum(axis=0)[:, None]
    # With all rows on one mean, the others have none to be the mean of.
    return np.where(counts > 0, shares.T @ X / np.where(counts > 0, counts, 1.0), means)


@given(case=cases(scattered=False), m=fuzzy.ms.filter(lambda m: m >= 1.3))
def test_the_means_are_bezdeks_in_every_iteration(case, m):
    problem = fuzzy.problem_of(case, Bezdek(m), C_prime=case.C)
    steps = list(em.steps(problem, case.means, NEVER_CONVERGED, max_iter=6))
    assume(not any(step.relocated for step in steps))
    means = case.means
    for step in steps[1:]:
        # Two roads to the same memberships differ by rounding, which the next step may
        # enlarge: each is compared from the same means.
        expected = fuzzy_c_means(case.X, case.weights, means, m)
        means = step.theta.means
        assert np.abs(means - expected).max() <= 1e-9


# Centres may coincide: one is nobody's closest.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(case=cases(gridded=False, spare=2), m=fuzzy.ms.filter(lambda m: m >= 1.3))
def test_a_fit_has_the_memberships_and_the_objective_of_its_centres(case, m):
    estimator = FuzzyKMeans(case.C, m=m, init=case.means, kernel=case.kernel_name)
    estimator.fit(case.rows.X, sample_weight=case.weights)
    means = estimator.cluster_centers_.astype(np.float64)
    u = memberships(case.X, means, m)
    eps = float(np.finfo(case.rows.X.dtype).eps)
    assert np.abs(estimator.predict_proba(case.rows.X) - u).max() <= 2 * eps + 1e-11
    d = paper.squared_distances(case.X, means)
    J = float(np.sum(case.weights[:, None] * u**m * d))
    assert abs(estimator.objective_ - J) <= 1e-9 * J
