"""The specification's own small print."""

import numpy as np

from cprime.kernels import get_kernel, reference
from cprime.models import Isotropic
from cprime.search import Exact, Lazy
from cprime.theta import Coefficients, Theta


def sweep(X, means, K=None, search=None, C_prime=1, weights=None, variance=1.0):
    X = np.asarray(X, dtype=float)
    theta = Theta(np.asarray(means, dtype=float), variance)
    return reference.sweep(
        X,
        np.ones(len(X)) if weights is None else weights,
        K,
        Isotropic().coefficients(theta),
        (search or Exact()).plan(),
        C_prime,
    )


def test_distances_are_differences_squared_and_summed_in_order():
    rng = np.random.default_rng(0)
    X, means = rng.normal(size=(20, 7)), rng.normal(size=(3, 7))
    expected = np.zeros((20, 3))
    for n in range(20):
        for c in range(3):
            for d in range(7):
                difference = X[n, d] - means[c, d]
                expected[n, c] += difference * difference
    np.testing.assert_array_equal(reference.distances(X, means), expected)


def test_statistics_by_hand():
    K, stats = sweep([[1.0], [3.0], [9.0]], [[0.0], [10.0]])
    np.testing.assert_array_equal(K, [[0], [0], [1]])
    np.testing.assert_array_equal(stats.counts, [2.0, 1.0])
    np.testing.assert_array_equal(stats.shifts, [[4.0], [-1.0]])
    assert stats.scatter == stats.quantization_error == 1.0 + 9.0 + 1.0
    assert (stats.entropy, stats.weight, stats.evaluations) == (0.0, 3.0, 6)


def test_changed_counts_sets_not_orders_and_only_weighted_rows():
    X, weights = [[0.4], [0.6], [5.0]], np.array([1.0, 1.0, 0.0])
    before = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.int32)
    means = [[0.0], [1.0], [6.0]]
    K, stats = sweep(X, means, before, C_prime=2, weights=weights)
    np.testing.assert_array_equal(K, [[0, 1], [1, 0], [2, 1]])
    assert stats.changed == 0


def test_a_lazy_row_stays_until_another_cluster_is_clearly_closer():
    K = np.array([[0], [0]], dtype=np.int32)
    X = [[0.52], [0.60]]
    kept, stats = sweep(X, [[0.0], [1.0]], K, Lazy(0.2))
    np.testing.assert_array_equal(kept, [[0], [1]])
    assert stats.changed == 1
    assert stats.quantization_error == stats.scatter


def test_boundless_laziness_never_moves():
    K = np.zeros((2, 1), dtype=np.int32)
    kept, _ = sweep([[5.0], [6.0]], [[0.0], [5.5]], K, Lazy(1e200))
    np.testing.assert_array_equal(kept, K)


def test_a_handicapped_cluster_must_be_closer_to_win():
    # Supplement C: the smaller bias loses at equal distance.
    handicapped = Coefficients(np.array([-1.0, 0.0]), np.array([[0.0], [1.0]]), 2.0)
    found = reference.posterior(np.array([[0.4], [0.1]]), handicapped, 1)
    np.testing.assert_array_equal(found.K, [[1], [0]])


def test_auto_chooses_a_kernel():
    assert get_kernel("auto") is get_kernel("reference") is reference
