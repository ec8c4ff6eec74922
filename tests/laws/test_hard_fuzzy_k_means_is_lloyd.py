"""One cluster per row, or next to no fuzziness, makes fuzzy k-means Lloyd's."""

import fuzzy
import numpy as np
import pytest
from hypothesis import assume, given
from problems import NEVER_CONVERGED, cases
from test_fuzzy_k_means_never_raises_its_objective import kinds

from cprime import FuzzyKMeans, KMeans, em
from cprime.kernels.memberships import Bezdek, Quadratic

# Rows that coincide leave clusters without any.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def k_means(case):
    kmeans = KMeans(case.C, init=case.means, kernel=case.kernel_name)
    return kmeans.fit(case.rows.X, sample_weight=case.weights)


@given(case=cases(), kind=kinds)
def test_with_one_cluster_per_row_it_is_k_means_to_the_bit(case, kind):
    hard = FuzzyKMeans(
        case.C, c_prime=1, init=case.means, kernel=case.kernel_name, **kind
    ).fit(case.rows.X, sample_weight=case.weights)
    kmeans = k_means(case)
    assert hard.cluster_centers_.tobytes() == kmeans.cluster_centers_.tobytes()
    assert hard.labels_.tolist() == kmeans.labels_.tolist()
    assert (hard.inertia_, hard.n_iter_) == (kmeans.inertia_, kmeans.n_iter_)


@pytest.mark.parametrize("rule", [Bezdek(1.0 + 1e-9), Quadratic(1e-12)], ids=str)
@given(case=cases(gridded=False))
def test_without_fuzziness_every_step_is_lloyds(rule, case):
    spread = np.ptp(case.X, axis=0).max()
    assume(spread > 0.1)
    problem = fuzzy.problem_of(case, rule, C_prime=case.C)
    hard = fuzzy.problem_of(case, rule, C_prime=1)
    soft_steps, hard_steps = (
        list(em.steps(p, case.means, NEVER_CONVERGED, max_iter=4))
        for p in (problem, hard)
    )
    # Lloyd's stop when no label changes, which is why there may be fewer of them.
    for soft, lloyd in zip(soft_steps, hard_steps):
        assert np.abs(soft.theta.means - lloyd.theta.means).max() <= 1e-6 * spread
