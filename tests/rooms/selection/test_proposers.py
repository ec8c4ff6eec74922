"""Which clusters are proposed to be split."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from cprime.kernels import native
from cprime.rows import MemoryRows
from cprime.selection.candidates import Fitter
from cprime.selection.path import Path
from cprime.selection.proposers import (
    NOT_GAUSSIAN,
    PROPOSERS,
    anderson_darling,
    g_means,
    x_means,
)

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
X = np.concatenate([RNG.normal(c, 1.0, (80, 2)) for c in CENTERS])


def test_anderson_darling_is_that_of_its_authors():
    x = np.sort(RNG.exponential(size=50))
    z = norm.cdf((x - x.mean()) / x.std(ddof=1))
    i = np.arange(1, 51)
    by_hand = -50 - np.mean((2 * i - 1) * (np.log(z) + np.log(1 - z[::-1])))
    by_hand *= 1 + 4 / 50 - 25 / 50**2
    found = anderson_darling(RNG.permutation(x), np.ones(50))
    assert found == pytest.approx(by_hand)


def test_weights_are_repetitions():
    x, weights = RNG.normal(size=60), RNG.integers(0, 4, size=60)
    repeated = np.repeat(x, weights)
    assert anderson_darling(x, weights.astype(float)) == pytest.approx(
        anderson_darling(repeated, np.ones(len(repeated)))
    )


def test_equal_and_far_away_numbers_have_an_answer():
    assert anderson_darling(np.ones(20), np.ones(20)) == 0.0
    far = np.append(np.zeros(10_000), 1e6)
    assert NOT_GAUSSIAN < anderson_darling(far, np.ones(10_001)) < math.inf


def test_tests_propose_what_they_reject():
    one, ones = RNG.normal(size=400), np.ones(400)
    two = np.concatenate([one[:200] - 4, one[200:] + 4])
    assert g_means(7.0, 3.0, one, ones) == -math.inf
    assert g_means(7.0, 3.0, two, ones) == 7.0
    assert x_means(7.0, -0.1, one, ones) == -math.inf
    assert x_means(7.0, 0.1, one, ones) == 7.0


@pytest.mark.parametrize(
    ("name", "ends"), [("gain", 6), ("x-means", 3), ("g-means", 3)]
)
@pytest.mark.parametrize("shape", ["full", "k-means"])
def test_a_path_ends_where_no_split_is_proposed(name, ends, shape):
    fitter = Fitter(MemoryRows(X, np.ones(240)), native, shape, np.full(2, 1e-6), 240.0)
    path = Path(fitter, 0, shape == "k-means", PROPOSERS[name])
    assert [found.C for found in path.grow(6)] == list(range(1, ends + 1))
