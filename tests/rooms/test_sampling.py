"""A sample sees neither the order of rows nor how often they are repeated."""

import numpy as np

from cprime.ordering import places_by_value
from cprime.rows import MemoryRows
from cprime.sampling import Direction, distinct_sample

RNG = np.random.default_rng(5)
X = RNG.normal(size=(300, 3))


def sample(X, weights=None, size=40, seed=1):
    weights = np.ones(len(X)) if weights is None else weights
    return distinct_sample(MemoryRows(X, weights), size, np.random.default_rng(seed))


def test_a_sample_is_as_large_as_asked_for_and_made_of_rows():
    found = sample(X)
    assert found.n_rows == 40
    assert {*map(tuple, found.X)} <= {*map(tuple, X)}


def test_order_and_repetition_of_rows_do_not_matter():
    order = RNG.permutation(len(X))
    once = sample(X[order])
    np.testing.assert_array_equal(sample(X).X, once.X)
    twice = sample(np.concatenate([X, X]))
    np.testing.assert_array_equal(twice.X, once.X)
    np.testing.assert_array_equal(twice.weights, 2.0 * once.weights)


def test_a_row_of_no_weight_is_not_in_a_sample():
    weights = np.where(np.arange(len(X)) % 2, 1.0, 0.0)
    found = sample(X, weights, size=len(X))
    assert {*map(tuple, found.X)} == {*map(tuple, X[weights > 0])}


def test_another_seed_draws_other_rows():
    assert not np.array_equal(sample(X).X, sample(X, seed=2).X)


def test_copies_lie_in_one_place_at_any_scale():
    rows = MemoryRows(X, np.ones(len(X)))
    direction = Direction(rows, np.random.default_rng(0))
    wide = Direction(MemoryRows(8.0 * X, rows.weights), np.random.default_rng(0))
    np.testing.assert_array_equal(
        direction.places(X[[3, 3]])[0], direction.places(X)[3]
    )
    np.testing.assert_array_equal(wide.places(8.0 * X), 8.0 * direction.places(X))
    np.testing.assert_array_equal(wide.keys(8.0 * X, 7), direction.keys(X, 7))


def test_rows_are_numbered_by_value_as_numpy_does():
    rows = RNG.integers(0, 3, size=(200, 3)) - 1.0
    rows[::7] *= -0.0
    expected = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    assert places_by_value(rows).tolist() == expected.tolist()
