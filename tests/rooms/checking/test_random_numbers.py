"""Random numbers are those of scikit-learn's way to make them, and come sooner."""

import pickle

import numpy as np
import pytest
from sklearn.utils import check_random_state

from cprime.checking.random_numbers import checked_random_state, next_generator


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**32 - 1])
def test_an_int_seeds_as_numpy_does(seed):
    found = checked_random_state(seed)
    np.testing.assert_equal(found.get_state(), check_random_state(seed).get_state())
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(found.random_sample(5), again.random_sample(5))


def test_what_is_given_is_used():
    given = np.random.RandomState(3)
    assert checked_random_state(given) is given
    assert checked_random_state(None) is check_random_state(None)
    with pytest.raises(ValueError, match="cannot be used to seed"):
        checked_random_state("seed")
    with pytest.raises(ValueError, match="Seed must be between"):
        checked_random_state(-1)


def test_a_generator_is_that_of_four_numbers():
    entropy = np.random.RandomState(7).randint(2**31 - 1, size=4)
    expected = np.random.default_rng(entropy).random(9)
    assert np.array_equal(next_generator(np.random.RandomState(7)).random(9), expected)
