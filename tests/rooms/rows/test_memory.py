"""Rows in memory: blocks, order, scale, and no dense copy of sparse data."""

import numpy as np
import pytest
import scipy.sparse as sp

from cprime.blocks import LEAF_ROWS
from cprime.kernels import reference
from cprime.models import Isotropic
from cprime.rows import MemoryRows, as_rows, memory
from cprime.search import Exact
from cprime.theta import Theta

N = 2 * LEAF_ROWS + 17
X = np.random.default_rng(0).normal(size=(N, 3))


def test_map_keeps_the_order_of_rows():
    found = MemoryRows(X).map(lambda values, weights: values[:, 0])
    np.testing.assert_array_equal(found, X[:, 0])


def test_reduce_adds_over_all_blocks():
    weights = np.random.default_rng(1).uniform(size=N)
    total = MemoryRows(X, weights).reduce(lambda values, w: np.sum(w))
    assert total == pytest.approx(weights.sum(), rel=1e-14)


def test_the_state_of_each_row_stays_with_it(kernel):
    theta = Theta(X[:5], 1.0)
    rows, coefficients = MemoryRows(X), Isotropic().coefficients(theta)
    K, first = rows.sweep(kernel, None, coefficients, Exact().plan(), 2)
    again, second = rows.sweep(kernel, K, coefficients, Exact().plan(), 2)
    np.testing.assert_array_equal(K.K, again.K)
    assert (first.changed, second.changed) == (N, 0)
    part, K_part = (of(np.array([N - 1, 3])) for of in (rows.subset, K.part))
    np.testing.assert_array_equal(part.X, X[[N - 1, 3]])
    np.testing.assert_array_equal(K_part.K, K.K[[N - 1, 3]])


def test_nothing_is_remembered_when_all_clusters_are_kept(kernel):
    coefficients = Isotropic().coefficients(Theta(X[:5], 1.0))
    K, _ = MemoryRows(X).sweep(kernel, None, coefficients, Exact().plan(), 5)
    assert K.K.shape == (N, 0)


def test_nothing_of_a_leaf_is_remembered_not_even_behind_a_view():
    coefficients = Isotropic().coefficients(Theta(X[:5], 1.0))
    K, _ = reference.sweep_leaf(
        X[:9], np.ones(9), None, coefficients, Exact().plan(), 5
    )
    # A view would keep all of the leaf's clusters in memory.
    assert K.shape == (9, 0) and K.base is None


def test_sparse_rows_are_dense_one_block_at_a_time(monkeypatch):
    sizes = []

    class Watched(sp.csr_array):
        def toarray(self, *args, **kwargs):
            sizes.append(self.shape[0])
            return super().toarray(*args, **kwargs)

    monkeypatch.setattr(memory, "COPIED_VALUES", 1)
    MemoryRows(Watched(X)).map(lambda values, weights: weights)
    assert max(sizes) <= LEAF_ROWS and sum(sizes) == N


def test_scale_is_applied_to_blocks_and_taken_rows():
    rows = MemoryRows(X, scale=0.25)
    np.testing.assert_array_equal(rows.take(np.array([5])), X[5:6] / 4)
    np.testing.assert_array_equal(rows.map(lambda values, weights: values), X / 4)


def test_rows_pass_through_as_rows():
    rows = MemoryRows(X)
    assert as_rows(rows) is rows
    assert as_rows(X).n_rows == N
