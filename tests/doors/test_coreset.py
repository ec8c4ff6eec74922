"""`cprime.coreset`: few weighted rows in place of all."""

import numpy as np
import pytest
import scipy.sparse as sp

import cprime
from cprime import KMeans, coreset
from cprime.datasets import make_birch_grid


@pytest.fixture(scope="module")
def X():
    return make_birch_grid(5, 200, rng=0).data


def test_a_fit_on_it_is_nearly_one_on_all_rows(X):
    rows, weights = coreset(X, 500, random_state=0)
    on_all = KMeans(25, n_init=5, random_state=0).fit(X).inertia_
    few = KMeans(25, n_init=5, random_state=0).fit(rows, sample_weight=weights)
    assert -few.score(X) / on_all < 1.1


def test_rows_are_some_of_those_given_and_come_once(X):
    rows, weights = coreset(X, 700, random_state=1)
    assert rows.shape == (len(weights), 2) and len(rows) <= 700
    assert (weights > 0).all() and weights.sum() == pytest.approx(len(X), rel=0.15)
    assert len(np.unique(rows, axis=0)) == len(rows)
    assert set(map(tuple, rows)) <= set(map(tuple, X))


def test_rows_far_out_are_drawn_more_often():
    X = np.r_[np.zeros((9990, 2)), np.full((10, 2), 1000.0)]
    rows, weights = coreset(X, 40, random_state=0)
    assert len(rows) == 2
    assert weights[rows[:, 0] > 0][0] == pytest.approx(10, rel=0.5)


def test_the_same_from_a_file_and_from_memory(tmp_path):
    X = make_birch_grid(5, 4000, rng=0).data
    np.save(tmp_path / "rows.npy", X)
    in_memory = coreset(X, 300, random_state=0)
    data = cprime.open_data(tmp_path / "rows.npy", memory="1.1 MB")
    from_file = coreset(data, 300, random_state=0)
    np.testing.assert_array_equal(from_file.rows, in_memory.rows)
    np.testing.assert_allclose(from_file.weights, in_memory.weights, rtol=1e-12)


def test_sparse_rows_and_floats(X):
    dense = coreset(X.astype(np.float32), 200, random_state=0)
    assert dense.rows.dtype == np.float32
    sparse = coreset(sp.csr_matrix(X.astype(np.float32)), 200, random_state=0)
    np.testing.assert_array_equal(sparse.rows, dense.rows)


def test_units_do_not_matter(X):
    one = coreset(X, 200, random_state=0)
    other = coreset(
        2.0**200 * X, 200, sample_weight=np.full(len(X), 2.0**-80), random_state=0
    )
    np.testing.assert_array_equal(other.rows, 2.0**200 * one.rows)
    np.testing.assert_allclose(other.weights, 2.0**-80 * one.weights, rtol=1e-12)


def test_random_states_differ_and_repeat(X):
    first, again, other = (coreset(X, 50, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.rows, again.rows)
    assert not np.array_equal(first.rows, other.rows)


def test_degenerate_rows():
    same = coreset(np.ones((100, 3)), 10, random_state=0)
    np.testing.assert_array_equal(same.rows, np.ones((1, 3)))
    np.testing.assert_allclose(same.weights, [100.0])
    one = coreset([[1.0, 2.0]], 10, random_state=0)
    np.testing.assert_allclose(one.weights, [1.0])
    weights = np.r_[np.zeros(50), np.ones(50)]
    X = np.arange(100.0)[:, None]
    assert coreset(X, 400, sample_weight=weights, random_state=0).rows.min() >= 50


@pytest.mark.parametrize("m", [0, -1, 2.5, "10", True])
def test_m_that_is_no_number_of_rows_is_refused(X, m):
    with pytest.raises(ValueError, match="m is the number of rows to draw"):
        coreset(X, m)


def test_bad_rows_are_named():
    with pytest.raises(ValueError, match="row 1"):
        coreset([[1.0], [np.nan]], 1)
    with pytest.raises(ValueError, match="sample_weight of row 0"):
        coreset([[1.0], [2.0]], 1, sample_weight=[-1.0, 1.0])
