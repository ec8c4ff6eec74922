"""Each half-step of truncated EM raises F (Sec. 3; Supplement D for lazy-k-means)."""

from itertools import pairwise

import numpy as np
import paper
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import cases, generator, variances
from traces import assert_never_falls, history

from cprime import KMeans
from cprime.search import Exact, Lazy
from cprime.theta import Theta

searches = st.sampled_from([Exact(), Lazy(0.0), Lazy(0.1), Lazy(3.0)])


@given(case=cases(), search=searches, variance=variances)
def test_neither_the_e_step_nor_the_m_step_lowers_it(case, search, variance):
    problem = case.problem(search=search)
    X, weights, theta = case.X, case.weights, Theta(case.means, variance)
    K, stats = problem.sweep(theta, None)
    q = paper.posterior(X, theta.means, variance, paper.inside(K.K, case.C))

    def free_energy(theta):
        return paper.variational_free_energy(
            X, weights, theta.means, theta.covariance, q
        )

    values = [free_energy(theta)]
    for _ in range(5):
        theta = problem.model.maximize(stats, about=theta)
        values.append(free_energy(theta))
        K, stats = problem.sweep(theta, K)
        kept = paper.inside(K.K, case.C)
        q = paper.posterior(X, theta.means, theta.covariance, kept)
        values.append(free_energy(theta))
    for before, after in pairwise(values):
        assert after >= before - paper.rounding(before, after)


def test_a_fall_would_be_noticed():
    with pytest.raises(AssertionError):
        assert_never_falls(np.array([-2.0, -1.0, -1.0 - 1e-12]), np.ones(3), D=2)


starts = ["k-means++", "random", "far away", "one corner", "repeated"]


def first_means(start, X, C, rng):
    places = {
        "far away": 1e6 * rng.standard_normal((C, X.shape[1])),
        "one corner": X.max(axis=0) + np.arange(1.0, C + 1)[:, None],
        "repeated": np.repeat(X[:1], C, axis=0),
    }
    return places.get(start, start)


# With C' > 1 two means may come to share all their rows: one is nobody's closest.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(data=st.data(), case=cases(max_rows=40), search=searches)
@pytest.mark.parametrize("start", starts)
def test_the_trace_of_a_fit_never_falls(start, data, case, search):
    lazy = isinstance(search, Lazy)
    kmeans = KMeans(
        case.C,
        init=first_means(start, case.X, case.C, generator(data.draw)),
        n_init=1,
        c_prime=1 if lazy and case.C_prime == case.C else case.C_prime,
        search="lazy" if lazy else "exact",
        eps=search.eps if lazy else 0.0,
        tol=0.0,
        max_iter=30,
        random_state=0,
        kernel=case.kernel_name,
    ).fit(case.rows.X, sample_weight=case.weights)
    assert_never_falls(*history(kmeans))


# All rows on centres is what this is about.
@pytest.mark.filterwarnings("ignore:Every row lies on a cluster center")
@pytest.mark.parametrize("variance_init", [1e-200, 1e-20, 1.0])
def test_a_first_variance_below_the_floor_is_no_excuse(kernel_name, variance_init):
    X = np.array([[0.0], [1.0], [3.0]])
    kmeans = KMeans(3, init=X, variance_init=variance_init, kernel=kernel_name).fit(X)
    assert_never_falls(*history(kmeans))
