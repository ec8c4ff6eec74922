"""Clusters with no valley between them are one group."""

import numpy as np
import pytest

from cprime.selection.modes import groups
from cprime.selection.shapes import Mixture

RNG = np.random.default_rng(0)


def found(means, variances, shares=None, X=None):
    means = np.array(means, dtype=float)
    C, D = means.shape
    shares = np.full(C, 1.0 / C) if shares is None else np.array(shares)
    variances = np.array(variances, dtype=float)
    mixture = Mixture(shares, means, variances[:, None, None] * np.eye(D))
    if X is None:
        of = RNG.choice(C, size=4000, p=shares)
        X = means[of] + np.sqrt(variances)[of, None] * RNG.normal(size=(4000, D))
    distances = ((X[:, None] - means) ** 2).sum(axis=2) / variances
    scores = distances + D * np.log(variances) - 2 * np.log(shares)
    return groups(mixture, X, np.ones(len(X)), scores.argmin(axis=1)).tolist()


@pytest.mark.parametrize(("apart", "same"), [(1.5, True), (4.0, False), (100.0, False)])
def test_two_equal_clusters_are_two_groups_if_they_are_two_peaks(apart, same):
    labels = found([[0, 0], [apart, 0]], [1, 1])
    assert (labels[0] == labels[1]) is same


def test_a_wide_cluster_under_another_is_no_group():
    assert found([[0, 0], [0.2, 0]], [1, 9], [0.8, 0.2]) == [0, 0]


def test_a_wide_cluster_under_all_does_not_make_them_one():
    labels = found([[0, 0], [8, 0], [4, 0]], [1, 1, 25], [0.45, 0.45, 0.1])
    assert len(set(labels)) == 2 and labels[0] != labels[1]


def test_what_lies_between_two_joins_them():
    labels = found([[0, 0], [3.2, 0], [1.6, 0]], [1, 1, 1])
    assert set(labels) == {0}


def test_a_valley_that_rows_do_not_show_is_none():
    # A tail, cut into pieces: fewer and fewer rows the farther out.
    X = np.abs(RNG.standard_t(3, size=(4000, 1)))
    assert found([[0.8], [6.0]], [0.6, 0.6], [0.98, 0.02], X) == [0, 0]


@pytest.mark.parametrize(
    ("apart", "n_rows", "n_groups"), [(5.0, 4, 1), (5.0, 8, 2), (50.0, 4, 2)]
)
def test_a_few_rows_are_a_group_only_far_from_others(apart, n_rows, n_groups):
    beside = [apart, 0.0] + RNG.normal(size=(n_rows, 2)) / 10.0
    X = np.vstack([RNG.normal(size=(400, 2)), beside])
    shares = [1.0 - n_rows / len(X), n_rows / len(X)]
    labels = found([[0, 0], [apart, 0]], [1, 1], shares, X)
    assert len(set(labels)) == n_groups


def test_clusters_in_the_same_place_are_one_group():
    assert found([[1, 1], [1, 1]], [1, 1]) == [0, 0]
