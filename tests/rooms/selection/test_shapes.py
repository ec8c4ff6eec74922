"""Shapes become one another, and clusters come and go."""

import numpy as np
import pytest

from cprime.selection.shapes import (
    SHAPES,
    Mixture,
    discount,
    merged,
    with_split,
    without,
)
from cprime.theta import Theta

RNG = np.random.default_rng(1)
ROOTS = RNG.normal(size=(3, 2, 2))
MIXTURE = Mixture(
    np.array([0.2, 0.3, 0.5]), RNG.normal(size=(3, 2)), ROOTS @ ROOTS.swapaxes(1, 2)
)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_taken_for_itself_stays_as_it_is(name):
    shape = SHAPES[name]
    theta = shape.theta(MIXTURE)
    again = shape.theta(Mixture.of(theta))
    np.testing.assert_allclose(again.covariance, theta.covariance, rtol=1e-14)
    np.testing.assert_array_equal(again.means, theta.means)


@pytest.mark.parametrize("name", SHAPES)
def test_the_mean_variance_is_the_same_in_all_shapes(name):
    proportions = MIXTURE.proportions

    def mean_variance(mixture):
        return proportions @ np.trace(mixture.matrices, axis1=1, axis2=2)

    found = Mixture.of(SHAPES[name].theta(MIXTURE))
    assert mean_variance(found) == pytest.approx(mean_variance(MIXTURE))


@pytest.mark.parametrize("name", SHAPES)
def test_a_cluster_that_is_split_and_joined_leaves_the_others_alone(name):
    theta = SHAPES[name].theta(MIXTURE)
    two = SHAPES[name].theta(
        Mixture(np.array([0.25, 0.75]), np.ones((2, 2)), np.stack([np.eye(2)] * 2))
    )
    more = with_split(theta, 1, two)
    assert len(more.means) == 4
    np.testing.assert_array_equal(more.means[[1, 3]], two.means)
    fewer = without(more, 3)
    np.testing.assert_array_equal(fewer.means[[0, 2]], theta.means[[0, 2]])
    if theta.proportions is not None:
        assert more.proportions.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(more.proportions[[1, 3]], [0.075, 0.225])
        assert fewer.proportions.sum() == pytest.approx(1.0)
    if not SHAPES[name].shared:
        np.testing.assert_array_equal(fewer.covariance[2], theta.covariance[2])
        np.testing.assert_array_equal(more.covariance[3], two.covariance[1])
    # What was given is not changed.
    assert len(theta.means) == 3


def test_one_variance_for_all_is_that_of_all():
    theta = Theta(np.zeros((2, 3)), 4.0)
    matrices = Mixture.of(theta).matrices
    np.testing.assert_array_equal(matrices, np.stack([4.0 * np.eye(3)] * 2))


def test_a_group_has_the_moments_of_its_clusters():
    whole = merged(MIXTURE, np.array([1, 0, 1]))
    np.testing.assert_allclose(whole.proportions, [0.3, 0.7])
    np.testing.assert_allclose(whole.means[0], MIXTURE.means[1])
    np.testing.assert_allclose(whole.matrices[0], MIXTURE.matrices[1])
    rows = np.concatenate(
        [
            RNG.multivariate_normal(MIXTURE.means[c], MIXTURE.matrices[c], 50_000 * n)
            for c, n in ((0, 2), (2, 5))
        ]
    )
    np.testing.assert_allclose(whole.means[1], rows.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(whole.matrices[1], np.cov(rows.T), atol=0.1)


@pytest.mark.parametrize(
    ("name", "n_own"),
    [("k-means", 0), ("tied", 0), ("spherical", 0), ("diag", 0), ("full", 1)],
)
def test_correlations_of_ones_own_cost_less(name, n_own):
    expected = -n_own * np.log([0.2, 0.3, 0.5]).sum()
    assert discount(SHAPES[name].theta(MIXTURE), 1e3) == pytest.approx(expected)


def test_an_empty_cluster_is_not_paid_for_being_there():
    theta = SHAPES["full"].theta(MIXTURE)
    theta = Theta(theta.means, theta.covariance, np.array([0.0, 0.5, 0.5]))
    most = np.log(100.0) + 2 * np.log(2.0)
    assert discount(theta, 100.0) == pytest.approx(most)
