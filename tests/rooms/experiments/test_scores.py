"""Purity and NMI are those of the book the paper cites."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from cprime.experiments.scores import normalized_mutual_information, purity

labels = st.lists(st.integers(0, 5), min_size=1, max_size=60)


def test_the_example_of_the_book():
    # Manning, Raghavan & Schuetze 2008, Fig. 16.4: three clusters of 17 things.
    truth = [0] * 5 + [1] + [0] + [1] * 4 + [2] + [0] * 2 + [2] * 3
    found = [0] * 6 + [1] * 6 + [2] * 5
    assert purity(np.array(truth), np.array(found)) == pytest.approx(12 / 17)
    nmi = normalized_mutual_information(np.array(truth), np.array(found))
    assert nmi == pytest.approx(0.36, abs=0.005)


@given(truth=labels, found=labels)
def test_nmi_is_that_of_scikit_learn(truth, found):
    n = min(len(truth), len(found))
    truth, found = np.array(truth[:n]), np.array(found[:n])
    if len(set(truth)) == len(set(found)) == 1:
        # Nothing to know, nothing known: a convention.
        assert normalized_mutual_information(truth, found) == 0.0
        return
    expected = normalized_mutual_info_score(truth, found)
    assert normalized_mutual_information(truth, found) == pytest.approx(
        expected, abs=1e-12
    )


@given(truth=labels)
def test_the_truth_itself_is_pure(truth):
    truth = np.array(truth)
    assert purity(truth, truth) == 1.0
    assert purity(truth, np.arange(len(truth))) == 1.0
    assert purity(truth, np.zeros(len(truth))) == np.bincount(truth).max() / len(truth)
