"""F rises with or without updates of sigma^2; for C' = 1 one at the end will do.

The consequences of Prop. 2.
"""

import math
from dataclasses import replace
from itertools import pairwise

import paper
from hypothesis import given
from hypothesis import strategies as st
from problems import FLOOR, NEVER_CONVERGED, cases, variances

from cprime import KMeans, em
from cprime.models import Isotropic
from cprime.theta import Theta

updates = st.lists(st.booleans(), min_size=5, max_size=5)


@given(case=cases(), variance=variances, updated=updates)
def test_it_rises_whichever_iterations_update_the_variance(case, variance, updated):
    problem, theta = case.problem(), Theta(case.means, variance)
    K, history = None, []
    for with_variance in updated:
        K, stats = problem.sweep(theta, K)
        after = problem.model.maximize(stats, about=theta)
        if not with_variance:
            after = replace(after, covariance=theta.covariance)
        kept = paper.inside(K.K, case.C)
        q = paper.posterior(case.X, theta.means, theta.covariance, kept)
        history += [
            paper.variational_free_energy(
                case.X, case.weights, each.means, each.covariance, q
            )
            for each in (theta, after)
        ]
        theta = after
    for before, after in pairwise(history):
        assert after >= before - paper.rounding(before, after)


@given(case=cases(), variance=variances)
def test_of_k_means_one_update_after_the_last_iteration_is_enough(case, variance):
    def end(model):
        problem = case.problem(model, C_prime=1)
        *_, last = em.steps(problem, case.means, NEVER_CONVERGED, max_iter=10)
        theta = replace(last.theta, covariance=1.0)
        return em.finish(case.problem(C_prime=1), theta, last.K)

    never, always = end(Isotropic(variance=variance)), end(Isotropic(floor=FLOOR))
    assert never.theta.means.tobytes() == always.theta.means.tobytes()
    assert never.theta.covariance == always.theta.covariance
    assert never.free_energy == always.free_energy


@given(case=cases(gridded=False, spare=3), variance=variances)
def test_of_k_means_the_variance_reported_is_that_of_labels_and_centres(case, variance):
    held, updated = (
        KMeans(
            case.C, init=case.means, max_iter=3, variance=v, kernel=case.kernel_name
        ).fit(case.rows.X, sample_weight=case.weights)
        for v in (variance, None)
    )
    assert held.cluster_centers_.tobytes() == updated.cluster_centers_.tobytes()
    assert held.labels_.tobytes() == updated.labels_.tobytes()
    per_feature = updated.inertia_ / (case.D * case.weights.sum())
    assert math.isclose(updated.variance_, per_feature, rel_tol=8 * paper.EPS)
    assert updated.free_energy_ >= held.free_energy_ - paper.rounding(held.free_energy_)
