"""Fits to a sample and to all rows stand in one table."""

import numpy as np

from cprime.selection.comparable import comparable, last_word


def table(**changes):
    """Return two fits to a sample of 100 rows, and the first to all 1,000."""
    found = {
        "shape": np.array(["full", "full", "full"]),
        "equal_weights": np.zeros(3, dtype=bool),
        "n_clusters": np.array([2, 3, 2]),
        "n_parameters": np.array([4, 7, 4]),
        "price": np.array([4, 7, 4]) * np.log([100.0, 100.0, 1000.0]),
        "weight": np.array([100.0, 100.0, 1000.0]),
        "chosen": np.array([False, False, True]),
        "bic": np.array([500.0, 520.0, 5100.0]),
    }
    return found | changes


def test_a_fit_to_both_says_how_the_sample_differs():
    value = comparable(table(), "bic")
    assert value[2] == 5100.0
    # As good as in the sample, but for what its parameters cost and pretend.
    misfits = np.array([500.0, 520.0]) - np.array([4, 7]) * (np.log(100.0) - 2.0)
    costs = 10.0 * misfits + np.array([4, 7]) * np.log(1000.0)
    np.testing.assert_allclose(value[0], 5100.0)
    np.testing.assert_allclose(value[1] - value[0], costs[1] - costs[0])


def test_where_all_rows_were_searched_nothing_changes():
    values = table(weight=np.full(3, 100.0))
    np.testing.assert_array_equal(comparable(values, "bic"), values["bic"])


def test_the_last_word_is_that_of_all_rows_and_of_the_choice():
    assert last_word(table()).tolist() == [1, 2]
    both = table(weight=np.full(3, 100.0), chosen=np.array([True, False, False]))
    assert last_word(both).tolist() == [0, 1]
