"""Fuzzy k-means with entropy is soft k-means of stiffness 1 / lam (Prop. 4)."""

import fuzzy
import numpy as np
import paper
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import cases

from cprime import FuzzyKMeans, KMeans, SoftKMeans

# Clusters may come to share all their rows: one is nobody's closest.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
powers_of_two = st.integers(-6, 6).map(lambda k: 2.0**k)


def fits(case, lam):
    options = {
        "init": case.means,
        "c_prime": case.C_prime,
        "max_iter": 20,
        "kernel": case.kernel_name,
    }
    given_lam = lam is not None
    for estimator in (
        FuzzyKMeans(case.C, regularization="entropy", lam=lam, **options),
        SoftKMeans(case.C, stiffness=1 / lam if given_lam else None, **options),
    ):
        yield estimator.fit(case.rows.X, sample_weight=case.weights)


# The inverse of a power of two is exact: nothing is left to differ.
@given(case=cases(), lam=powers_of_two | st.none())
def test_they_are_the_same_to_the_bit(case, lam):
    fuzzy_fit, soft = fits(case, lam)
    assert fuzzy_fit.cluster_centers_.tobytes() == soft.cluster_centers_.tobytes()
    for name in ("variance_", "free_energy_", "log_likelihood_", "gap_", "inertia_"):
        assert getattr(fuzzy_fit, name) == getattr(soft, name)
    assert fuzzy_fit.lam_ == 2.0 * soft.variance_
    F = soft.trace_["free_energy"]
    assert fuzzy_fit.trace_["free_energy"].tobytes() == F.tobytes()
    u, q = (e.predict_proba(case.rows.X, case.C_prime) for e in (fuzzy_fit, soft))
    assert u.tobytes() == q.tobytes()


@given(case=cases(), lam=powers_of_two)
def test_k_means_of_that_variance_is_the_same_too(case, lam):
    soft = list(fits(case, lam))[1]
    kmeans = KMeans(
        case.C,
        init=case.means,
        variance=lam / 2,
        c_prime=case.C_prime,
        max_iter=20,
        kernel=case.kernel_name,
    ).fit(case.rows.X, sample_weight=case.weights)
    assert kmeans.cluster_centers_.tobytes() == soft.cluster_centers_.tobytes()
    assert kmeans.free_energy_ == soft.free_energy_


@given(case=cases(scattered=False), lam=fuzzy.lams)
def test_the_objective_is_that_of_its_memberships(case, lam):
    entropic = next(fits(case, lam))
    if case.rows.X.dtype != np.float64:
        return
    u = entropic.predict_proba(case.X)
    distances = paper.squared_distances(case.X, entropic.cluster_centers_)
    per_row = np.sum(u * distances, axis=1) - lam * paper.entropies(u)
    J, size = np.sum(case.weights * per_row), np.sum(case.weights) * (1 + lam)
    assert abs(entropic.objective_ - J) <= 1e-11 * size
    trace = entropic.trace_["objective"]
    assert entropic.objective_ <= trace[-1] + 1e-11 * size
