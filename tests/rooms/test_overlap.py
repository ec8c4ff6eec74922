"""Overlaps are the integrals they are said to be."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from cprime.overlap import bhattacharyya_distances, closest, overlaps


def random_clusters(rng, C, D):
    means = rng.normal(scale=2.0, size=(C, D))
    roots = rng.normal(size=(C, D, D))
    return means, roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(D)


def integral(means, covariances):
    """Integrate sqrt(p p') over a grid of the plane."""
    ticks = np.linspace(-16.0, 16.0, 401)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1)
    densities = [
        multivariate_normal(mean, covariance).pdf(grid)
        for mean, covariance in zip(means, covariances)
    ]
    cell = (ticks[1] - ticks[0]) ** 2
    return np.array(
        [[np.sqrt(p * q).sum() * cell for p in densities] for q in densities]
    )


def test_matrices_give_the_integral():
    means, covariances = random_clusters(np.random.default_rng(0), 4, 2)
    found = overlaps(means, covariances)
    np.testing.assert_allclose(found, integral(means, covariances), atol=1e-6)
    assert found[~np.eye(4, dtype=bool)].max() > 0.05


@pytest.mark.parametrize("shape", ["one", "spherical", "diag", "tied"])
def test_every_shape_is_that_of_the_same_matrices(shape):
    rng = np.random.default_rng(1)
    C, D = 5, 3
    means = rng.normal(size=(C, D))
    variances = rng.uniform(0.3, 2.0, size=(C, D))
    matrix = random_clusters(rng, 1, D)[1]
    covariance, matrices = {
        "one": (0.7, np.broadcast_to(0.7 * np.eye(D), (C, D, D))),
        "spherical": (variances[:, 0], variances[:, :1, None] * np.eye(D)),
        "diag": (variances, variances[:, :, None] * np.eye(D)),
        "tied": (matrix, np.broadcast_to(matrix, (C, D, D))),
    }[shape]
    np.testing.assert_allclose(
        bhattacharyya_distances(means, covariance),
        bhattacharyya_distances(means, np.ascontiguousarray(matrices)),
        atol=1e-12,
    )


def test_a_cluster_overlaps_with_itself_wholly():
    means, covariances = random_clusters(np.random.default_rng(2), 6, 4)
    found = overlaps(means, covariances)
    np.testing.assert_array_equal(np.diag(found), 1.0)
    np.testing.assert_array_equal(found, found.T)
    assert ((found >= 0) & (found <= 1)).all()


def test_units_of_features_do_not_matter():
    means, covariances = random_clusters(np.random.default_rng(3), 5, 3)
    units = np.array([1e-6, 1.0, 1e9])
    scaled = covariances * units[:, None] * units
    np.testing.assert_allclose(
        bhattacharyya_distances(means * units, scaled),
        bhattacharyya_distances(means, covariances),
        rtol=1e-9,
        atol=1e-12,
    )


def test_clusters_too_far_apart_to_overlap_still_have_a_closest():
    means = np.array([[0.0], [1e3], [2.5e3], [2.6e3]])
    assert overlaps(means, 1.0)[0, 1] == 0.0
    found = closest(bhattacharyya_distances(means, 1.0))
    np.testing.assert_array_equal(found, [1, 0, 3, 2])


def test_one_cluster_has_no_other():
    np.testing.assert_array_equal(closest(np.zeros((1, 1))), [-1])
    np.testing.assert_array_equal(overlaps(np.zeros((1, 2)), 1.0), [[1.0]])


def test_many_pairs_of_matrices_are_worked_on_in_parts(monkeypatch):
    means, covariances = random_clusters(np.random.default_rng(4), 7, 3)
    whole = overlaps(means, covariances)
    monkeypatch.setattr("cprime.overlap.AT_ONCE", 40)
    np.testing.assert_array_equal(overlaps(means, covariances), whole)
