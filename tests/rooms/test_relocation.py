"""Empty clusters go where they are needed, and nothing else is disturbed."""

import numpy as np
import pytest

from cprime import KMeans
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.relocation import refill
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.theta import Theta


@pytest.fixture
def refilled(kernel):
    def after_a_sweep(X, means, weights=None):
        rows = MemoryRows(np.asarray(X, dtype=float), weights)
        problem = Problem(rows, Isotropic(), Exact(), kernel, C_prime=1)
        theta = Theta(np.asarray(means, dtype=float), 1.0)
        K, stats = problem.sweep(theta, None)
        _, moved, about, n = refill(problem, K, stats, theta)
        return stats, moved, Isotropic().maximize(moved, about), n

    return after_a_sweep


def test_the_farthest_row_leaves_its_donor(refilled):
    _, moved, theta, moved_clusters = refilled([[0.0], [1.0], [8.0]], [[0.0], [99.0]])
    assert len(moved_clusters) == 1
    np.testing.assert_array_equal(theta.means, [[0.5], [8.0]])
    np.testing.assert_array_equal(moved.counts, [2.0, 1.0])
    assert theta.covariance == pytest.approx(0.5 / 3)


def test_two_empty_clusters_take_two_rows_of_the_same_donor(refilled):
    X = [[0.0], [1.0], [8.0], [9.0]]
    _, _, theta, moved_clusters = refilled(X, [[0.0], [99.0], [98.0]])
    assert len(moved_clusters) == 2
    np.testing.assert_array_equal(theta.means, [[0.5], [9.0], [8.0]])


def test_identical_copies_move_together_like_a_weight(refilled):
    repeated = refilled([[0.0], [1.0], [8.0], [8.0]], [[0.0], [99.0]])[2]
    weighted = refilled(
        [[0.0], [1.0], [8.0]], [[0.0], [99.0]], weights=np.array([1.0, 1.0, 2.0])
    )[2]
    np.testing.assert_array_equal(repeated.means, weighted.means)
    np.testing.assert_array_equal(repeated.means, [[0.5], [8.0]])


def test_rows_equally_far_are_chosen_by_value_not_by_order(refilled):
    X = np.array([[-4.0], [4.0], [0.0], [0.5]])
    means = [[0.0], [99.0]]
    forwards, backwards = refilled(X, means)[2], refilled(X[::-1], means)[2]
    np.testing.assert_array_equal(forwards.means, backwards.means)


def test_rows_without_weight_attract_nobody(refilled):
    theta = refilled(
        [[0.0], [1.0], [50.0]], [[0.0], [99.0]], weights=np.array([1.0, 1.0, 0.0])
    )[2]
    np.testing.assert_array_equal(theta.means, [[0.0], [1.0]])


def test_nothing_moves_when_every_row_has_a_centre_of_its_own(refilled):
    stats, moved, _, moved_clusters = refilled([[0.0], [5.0]], [[0.0], [5.0], [99.0]])
    assert len(moved_clusters) == 0 and moved is stats


def test_a_cluster_of_one_row_is_not_robbed(refilled):
    _, _, _, moved_clusters = refilled([[0.0], [0.1], [9.0]], [[0.0], [7.0], [99.0]])
    assert len(moved_clusters) == 0


@pytest.mark.parametrize("C_prime", [2, 3])
def test_with_soft_assignments_a_move_must_not_lower_the_free_energy(
    kernel_name, C_prime
):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(3, 2)) + 30.0])
    means = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1e3, 1e3]])
    km = KMeans(4, init=means, c_prime=C_prime, kernel=kernel_name).fit(X)
    assert (np.diff(km.trace_["free_energy"]) >= -1e-12).all()
    assert km.n_relocations_ >= 1
    assert km.cluster_centers_.max() < 100.0


def test_relocations_are_counted_in_the_trace(kernel_name):
    X = np.array([[0.0], [1.0], [8.0], [9.0]])
    km = KMeans(2, init=np.array([[0.0], [99.0]]), kernel=kernel_name).fit(X)
    assert km.n_relocations_ == km.trace_["relocated"].sum() == 1
    np.testing.assert_array_equal(np.sort(km.cluster_centers_, axis=0), [[0.5], [8.5]])


@pytest.mark.parametrize("far", [1e6, 1e10, 1e14])
@pytest.mark.parametrize("c_prime", [1, 2])
@pytest.mark.parametrize("variance", [None, 1.0])
def test_a_row_that_leaves_from_very_far_does_not_make_up_a_bound(
    kernel_name, far, c_prime, variance
):
    # Its scatter is all there is: subtracting it leaves nothing but rounding error.
    X = np.random.default_rng(0).standard_normal((40, 2))
    X[0] = [far, 0.0]
    km = KMeans(
        4,
        init=X[[1, 1, 1, 1]],
        c_prime=c_prime,
        variance=variance,
        kernel=kernel_name,
    ).fit(X)
    assert km.n_relocations_ >= 1
    assert (np.diff(km.trace_["free_energy"]) >= 0).all()
