"""Each half-step of truncated EM raises F (Sec. 3; Supplement D for lazy-k-means)."""

from itertools import pairwise

import numpy as np
import paper
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import cases, generator, variances

from cprime import KMeans
from cprime.search import Exact, Lazy
from cprime.theta import Theta

searches = st.sampled_from([Exact(), Lazy(0.0), Lazy(0.1), Lazy(3.0)])
# An M-step's scatter may lie this far below the one it is subtracted from.
DEEPEST_FALL = 2.0**20


@given(case=cases(), search=searches, variance=variances)
def test_neither_the_e_step_nor_the_m_step_lowers_it(case, search, variance):
    C_prime = 1 if isinstance(search, Lazy) else case.C_prime
    problem = case.problem(search=search, C_prime=C_prime)
    X, weights, theta = case.X, case.weights, Theta(case.means, variance)
    K, stats = problem.sweep(theta, None)
    q = paper.posterior(X, theta.means, variance, paper.inside(K, case.C))

    def free_energy(theta):
        return paper.variational_free_energy(
            X, weights, theta.means, theta.covariance, q
        )

    values = [free_energy(theta)]
    for _ in range(5):
        theta = problem.model.maximize(stats, about=theta)
        values.append(free_energy(theta))
        K, stats = problem.sweep(theta, K)
        kept = paper.inside(K, case.C)
        q = paper.posterior(X, theta.means, theta.covariance, kept)
        values.append(free_energy(theta))
    for before, after in pairwise(values):
        assert after >= before - paper.rounding(before, after)


def assert_never_falls(F, variance, D):
    # An M-step subtracts from the scatter before it: where the variance collapses,
    # F is known only as well as what is left.
    falls = np.minimum(np.r_[1.0, variance[:-1] / variance[1:]], DEEPEST_FALL)
    errors = [paper.rounding(f, D * fall) for f, fall in zip(F, falls)]
    assert np.all(np.diff(F) >= -np.add(errors[:-1], errors[1:]))


def test_a_fall_would_be_noticed():
    with pytest.raises(AssertionError):
        assert_never_falls(np.array([-2.0, -1.0, -1.0 - 1e-12]), np.ones(3), D=2)


def history(kmeans):
    """Return F and the variance after every M-step and after the last sweep."""
    F, variance = kmeans.trace_["free_energy"], kmeans.trace_["variance"]
    if kmeans.cluster_centers_.dtype == np.float64:
        # Centres rounded to float32 are not quite the best ones any more.
        F, variance = np.r_[F, kmeans.free_energy_], np.r_[variance, kmeans.variance_]
    return F, variance, kmeans.n_features_in_


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
        c_prime=1 if lazy else case.C_prime,
        search="lazy" if lazy else "exact",
        eps=search.eps if lazy else 0.0,
        tol=0.0,
        max_iter=30,
        random_state=0,
    ).fit(case.rows.X, sample_weight=case.weights)
    assert_never_falls(*history(kmeans))


@pytest.mark.parametrize("c_prime", [1, 2, 3])
def test_the_trace_never_falls_where_empty_clusters_move(c_prime):
    X = np.random.default_rng(5).normal(size=(60, 2))
    init = np.vstack([X[:3], X[:2] + 1e4])
    kmeans = KMeans(5, init=init, c_prime=c_prime).fit(X)
    assert kmeans.n_relocations_ == 2
    assert_never_falls(*history(kmeans))


# The cluster that stays empty is nobody's closest.
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_an_empty_cluster_stays_where_its_move_would_lower_it():
    X = np.random.default_rng(5).normal(size=(60, 2))
    init = np.vstack([X[:2], X[:1] + 1e4])
    # Under so large a variance a row loses more by leaving one of its two clusters.
    kmeans = KMeans(3, init=init, c_prime=2, variance=100.0).fit(X)
    assert kmeans.n_relocations_ == 0
    assert_never_falls(*history(kmeans))


@pytest.mark.parametrize("eps", [0.0, 0.5, 1e3, 1e200])
def test_lazy_rows_do_not_leave_an_empty_cluster_that_came_to_them(eps):
    X = np.array([-50.0, 0.0, 1.0, 2.0, 3.0, 9.0, 10.0])[:, None]
    init = np.array([[-49.0], [1000.0], [2.0]])
    kmeans = KMeans(3, init=init, search="lazy", eps=eps, tol=0.0).fit(X)
    assert kmeans.n_relocations_ == 1
    assert_never_falls(*history(kmeans))


# All rows on centres is what this is about.
@pytest.mark.filterwarnings("ignore:Every row lies on a cluster center")
@pytest.mark.parametrize("variance_init", [1e-200, 1e-20, 1.0])
def test_a_first_variance_below_the_floor_is_no_excuse(variance_init):
    X = np.array([[0.0], [1.0], [3.0]])
    kmeans = KMeans(3, init=X, variance_init=variance_init).fit(X)
    assert_never_falls(*history(kmeans))
