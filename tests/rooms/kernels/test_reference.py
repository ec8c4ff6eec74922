"""The specification's own small print, which every kernel obeys."""

import numpy as np
import pytest

from cprime.blocks import Block, Kept
from cprime.kernels import get_kernel, native, reference
from cprime.models import Isotropic
from cprime.search import Exact, Lazy
from cprime.theta import Coefficients, Theta


@pytest.fixture
def sweep(kernel):
    def of_rows(X, means, K=None, search=None, C_prime=1, weights=None):
        X = np.asarray(X, dtype=float)
        theta = Theta(np.asarray(means, dtype=float), 1.0)
        kept, sums = kernel.sweep(
            Block(X, np.ones(len(X)) if weights is None else weights),
            None if K is None else Kept(K),
            Isotropic().coefficients(theta),
            (search or Exact()).plan(),
            C_prime,
        )
        return kept.K, sums.total()

    return of_rows


def test_distances_are_differences_squared_and_summed_in_eight_lanes(kernel):
    rng = np.random.default_rng(0)
    # Seven features do not fill the lanes, eight do, twenty-nine go round them.
    for D in (1, 2, 7, 8, 9, 29):
        X, means = rng.normal(size=(20, D)), rng.normal(size=(3, D))
        found = kernel.distances(X, means)
        for n in range(20):
            for c in range(3):
                assert found[n, c] == in_eight_lanes(X[n].tolist(), means[c].tolist())


def in_eight_lanes(y, mean):
    """Return ||y - mean||^2 one feature at a time: the definition, in plain Python."""
    lanes = [0.0] * 8
    for d in range(len(y)):
        difference = y[d] - mean[d]
        lanes[d % 8] += difference * difference
    even = (lanes[0] + lanes[4]) + (lanes[2] + lanes[6])
    odd = (lanes[1] + lanes[5]) + (lanes[3] + lanes[7])
    return even + odd


def test_statistics_by_hand(sweep):
    K, stats = sweep([[1.0], [3.0], [9.0]], [[0.0], [10.0]])
    np.testing.assert_array_equal(K, [[0], [0], [1]])
    np.testing.assert_array_equal(stats.counts, [2.0, 1.0])
    np.testing.assert_array_equal(stats.shifts, [[4.0], [-1.0]])
    assert stats.scatter == stats.quantization_error == 1.0 + 9.0 + 1.0
    assert (stats.entropy, stats.weight) == (0.0, 3.0)


def test_the_reference_looks_at_every_cluster_of_every_row():
    coefficients = Isotropic().coefficients(Theta(np.array([[0.0], [10.0]]), 1.0))
    for C_prime in (1, 2):
        block = Block(np.array([[1.0], [3.0], [9.0]]), np.ones(3))
        _, sums = reference.sweep(block, None, coefficients, Exact().plan(), C_prime)
        assert sums.total().evaluations == 6


def test_changed_counts_sets_not_orders_and_only_weighted_rows(sweep):
    X, weights = [[0.4], [0.6], [5.0]], np.array([1.0, 1.0, 0.0])
    before = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.int32)
    means = [[0.0], [1.0], [6.0]]
    K, stats = sweep(X, means, before, C_prime=2, weights=weights)
    np.testing.assert_array_equal(K, [[0, 1], [1, 0], [2, 1]])
    assert stats.changed == 0


def test_a_lazy_row_stays_until_another_cluster_is_clearly_closer(sweep):
    K = np.array([[0], [0]], dtype=np.int32)
    X = [[0.52], [0.60]]
    kept, stats = sweep(X, [[0.0], [1.0]], K, Lazy(0.2))
    np.testing.assert_array_equal(kept, [[0], [1]])
    assert stats.changed == 1
    assert stats.quantization_error == stats.scatter


def test_boundless_laziness_never_moves(sweep):
    K = np.zeros((2, 1), dtype=np.int32)
    kept, _ = sweep([[5.0], [6.0]], [[0.0], [5.5]], K, Lazy(1e200))
    np.testing.assert_array_equal(kept, K)


def test_a_handicapped_cluster_must_be_closer_to_win(kernel):
    # Supplement C: the smaller bias loses at equal distance.
    handicapped = Coefficients(np.array([-1.0, 0.0]), np.array([[0.0], [1.0]]), 2.0)
    found = kernel.posterior(np.array([[0.4], [0.1]]), handicapped, 1)
    np.testing.assert_array_equal(found.K, [[1], [0]])


def test_auto_chooses_a_kernel():
    assert get_kernel("auto") is get_kernel("native") is native
    assert get_kernel("reference") is reference
