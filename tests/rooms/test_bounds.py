"""The bounds refuse what they cannot bound."""

from functools import partial

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


@pytest.fixture(params=MEASURES, ids=lambda m: m.__name__)
def measure(request, kernel):
    return partial(request.param, kernel=kernel)


def test_rows_must_have_the_features_of_the_means(measure):
    with pytest.raises(ValueError, match="X has 1 features, but the means have 2"):
        measure(X[:, :1], MIXTURE)


@pytest.mark.parametrize("C_prime", [0, 4])
def test_a_row_keeps_between_one_and_all_clusters(measure, C_prime):
    with pytest.raises(ValueError, match=f"C_prime={C_prime} should be between 1 and"):
        measure(X, MIXTURE, C_prime=C_prime)


@pytest.mark.parametrize("row", [[0, 0], [0, 3], [-1, 0]])
def test_the_clusters_of_a_row_are_different_and_exist(measure, row):
    with pytest.raises(ValueError, match="different clusters from 0 to 2"):
        measure(X, MIXTURE, K=[row] * 6)


def test_every_row_has_clusters_of_its_own(measure):
    with pytest.raises(ValueError, match=r"K has shape \(1, 2\): X has 6 rows"):
        measure(X, MIXTURE, K=[[0, 1]])


def in_records(X):
    """Return X as one field of records, an odd number of bytes apart."""
    records = np.zeros(len(X), dtype=[("key", "u1"), ("values", X.dtype, X.shape[1:])])
    records["values"] = X
    return records["values"]


@pytest.mark.parametrize("dtype", ["i4", "i8", "f2", ">f4", ">f8"])
def test_rows_may_be_of_any_kind_of_number(kernel, dtype):
    rows = np.round(X * 4).astype(dtype)
    found, expected = (
        bounds.gap_per_row(x, MIXTURE, kernel=kernel)
        for x in (rows, rows.astype(float))
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_may_lie_among_other_things(kernel, dtype):
    rows = X.astype(dtype)
    found, expected = (
        bounds.gap_per_row(x, MIXTURE, kernel=kernel) for x in (in_records(rows), rows)
    )
    np.testing.assert_array_equal(found, expected)


def test_given_clusters_may_be_a_list(kernel):
    K = [[0, 1]] * 6
    assert bounds.gap(X, MIXTURE, K=K, kernel=kernel) == pytest.approx(
        bounds.gap_per_row(X, MIXTURE, K=K, kernel=kernel).mean()
    )


def test_a_cluster_nobody_is_closest_to_has_lost_nothing(kernel):
    far = Isotropic().coefficients(Theta(np.array([[0.0, 0.0], [50.0, 50.0]]), 1.0))
    assert bounds.gap_per_cluster(X, far, kernel=kernel)[1] == 0.0


def test_the_gap_is_that_of_the_best_clusters_also_when_biases_differ(kernel):
    coefficients = Coefficients(np.array([-3.0, 0.0, -1.0]), X[:3], 1.3)
    distances = ((X[:, None] - X[:3]) ** 2).sum(axis=2)
    log_joint = coefficients.bias - 0.5 * 1.3**2 * distances
    best_two = np.sort(log_joint, axis=1)[:, 1:]
    expected = np.logaddexp.reduce(log_joint, axis=1) - np.logaddexp.reduce(
        best_two, axis=1
    )
    found = bounds.gap_per_row(X, coefficients, C_prime=2, kernel=kernel)
    np.testing.assert_allclose(found, expected, atol=1e-14)
