"""Where do the random numbers of a fit come from?"""

from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from sklearn.utils import check_random_state

from cprime.typing import Array


def checked_random_state(given: Any) -> np.random.RandomState:
    """Return what scikit-learn's `check_random_state` does, sooner for an int.

    A new `RandomState` first seeds itself from the system, which takes longer than a
    small fit.
    """
    found: np.random.RandomState
    if type(given) is not int:
        found = check_random_state(given)
        return found
    unseeded: Any = _Unseeded()
    found = np.random.RandomState(np.random.MT19937(unseeded))
    found.seed(given)
    return found


def next_generator(random_state: np.random.RandomState) -> np.random.Generator:
    """Return random numbers for one restart, which do not depend on those of others."""
    entropy = random_state.randint(2**31 - 1, size=4)
    # As the words they are: numpy takes its time with other integers.
    return np.random.default_rng(entropy.astype(np.uint32))


class _Unseeded(ISeedSequence):
    """The state of a generator that is about to be seeded."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Array:
        return np.zeros(n_words, dtype)
