"""A cluster without rows moves to a badly served one, where that does not lower F."""

import numpy as np
import pytest
from traces import assert_never_falls, history

from cprime import KMeans


@pytest.mark.parametrize("c_prime", [1, 2, 3])
def test_the_trace_never_falls_where_empty_clusters_move(kernel_name, c_prime):
    X = np.random.default_rng(5).normal(size=(60, 2))
    init = np.vstack([X[:3], X[:2] + 1e4])
    kmeans = KMeans(5, init=init, c_prime=c_prime, kernel=kernel_name).fit(X)
    assert kmeans.n_relocations_ == 2
    assert_never_falls(*history(kmeans))


# The cluster that stays empty is nobody's closest.
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_an_empty_cluster_stays_where_its_move_would_lower_it(kernel_name):
    X = np.random.default_rng(5).normal(size=(60, 2))
    init = np.vstack([X[:2], X[:1] + 1e4])
    # Under so large a variance a row loses more by leaving one of its two clusters.
    kmeans = KMeans(3, init=init, c_prime=2, variance=100.0, kernel=kernel_name).fit(X)
    assert kmeans.n_relocations_ == 0
    assert_never_falls(*history(kmeans))


@pytest.mark.parametrize("eps", [0.0, 0.5, 1e3, 1e200])
def test_lazy_rows_do_not_leave_an_empty_cluster_that_came_to_them(kernel_name, eps):
    X = np.array([-50.0, 0.0, 1.0, 2.0, 3.0, 9.0, 10.0])[:, None]
    init = np.array([[-49.0], [1000.0], [2.0]])
    kmeans = KMeans(
        3, init=init, search="lazy", eps=eps, tol=0.0, kernel=kernel_name
    ).fit(X)
    assert kmeans.n_relocations_ == 1
    assert_never_falls(*history(kmeans))
