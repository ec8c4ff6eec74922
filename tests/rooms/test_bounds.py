"""The bounds refuse what they cannot bound."""

import numpy as np
import pytest

from cprime import bounds
from cprime.models import Isotropic
from cprime.theta import Coefficients, Theta

X = np.random.default_rng(0).normal(size=(6, 2))
MIXTURE = Isotropic().coefficients(Theta(X[:3], 1.0))
MEASURES = [
    bounds.free_energy,
    bounds.gap,
    bounds.gap_per_row,
    bounds.gap_per_cluster,
]


@pytest.mark.parametrize("measure", MEASURES)
def test_rows_must_have_the_features_of_the_means(measure):
    with pytest.raises(ValueError, match="X has 1 features, but the means have 2"):
        measure(X[:, :1], MIXTURE)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("C_prime", [0, 4])
def test_a_row_keeps_between_one_and_all_clusters(measure, C_prime):
    with pytest.raises(ValueError, match=f"C_prime={C_prime} should be between 1 and"):
        measure(X, MIXTURE, C_prime=C_prime)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("row", [[0, 0], [0, 3], [-1, 0]])
def test_the_clusters_of_a_row_are_different_and_exist(measure, row):
    with pytest.raises(ValueError, match="different clusters from 0 to 2"):
        measure(X, MIXTURE, K=[row] * 6)


@pytest.mark.parametrize("measure", MEASURES)
def test_every_row_has_clusters_of_its_own(measure):
    with pytest.raises(ValueError, match=r"K has shape \(1, 2\): X has 6 rows"):
        measure(X, MIXTURE, K=[[0, 1]])


def test_given_clusters_may_be_a_list():
    K = [[0, 1]] * 6
    assert bounds.gap(X, MIXTURE, K=K) == pytest.approx(
        bounds.gap_per_row(X, MIXTURE, K=K).mean()
    )


def test_a_cluster_nobody_is_closest_to_has_lost_nothing():
    far = Isotropic().coefficients(Theta(np.array([[0.0, 0.0], [50.0, 50.0]]), 1.0))
    assert bounds.gap_per_cluster(X, far)[1] == 0.0


def test_the_gap_is_that_of_the_best_clusters_also_when_biases_differ():
    coefficients = Coefficients(np.array([-3.0, 0.0, -1.0]), X[:3], 1.3)
    distances = ((X[:, None] - X[:3]) ** 2).sum(axis=2)
    log_joint = coefficients.bias - 0.5 * 1.3**2 * distances
    best_two = np.sort(log_joint, axis=1)[:, 1:]
    expected = np.logaddexp.reduce(log_joint, axis=1) - np.logaddexp.reduce(
        best_two, axis=1
    )
    found = bounds.gap_per_row(X, coefficients, C_prime=2)
    np.testing.assert_allclose(found, expected, atol=1e-14)
