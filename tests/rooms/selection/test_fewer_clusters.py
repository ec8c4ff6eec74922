"""Whether fewer clusters would do is found by the search of AutoMixture."""

import numpy as np
import pytest

from cprime import GaussianMixture, KMeans
from cprime.selection.fewer_clusters import (
    MOST_ROWS,
    clusters_of_any_shape,
    fewer_clusters,
)

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(c, 1.0, (200, 3)) for c in (0.0, 8.0, 16.0)])
TYPES = ("full", "tied", "diag", "spherical", "isotropic")


def found(estimator, X=X, weights=None):
    estimator.fit(X)
    return fewer_clusters(*estimator._mixture(), estimator.bic(X), X, weights)


@pytest.mark.parametrize("kind", TYPES)
def test_too_many_clusters_of_a_mixture(kind):
    def of(C):
        return GaussianMixture(C, covariance_type=kind, n_init=3, random_state=0)

    assert found(of(7)) == (3, len(X))
    assert found(of(3)) is None


def test_too_many_clusters_of_k_means():
    assert found(KMeans(8, random_state=0)) == (3, len(X))
    assert found(KMeans(3, random_state=0)) is None


def test_more_clusters_than_were_fitted_are_not_asked_about():
    assert found(KMeans(2, random_state=0)) is None


def test_a_constant_column_changes_nothing():
    rows = np.column_stack([X, np.full(len(X), 7.0)])
    assert found(KMeans(8, random_state=0), rows) == (3, len(X))


def test_of_many_rows_some_are_looked_at():
    rows = np.concatenate([X + RNG.normal(size=X.shape) for _ in range(5)])
    assert found(KMeans(8, random_state=0), rows) == (3, MOST_ROWS)


def test_rows_that_stand_for_many_count_as_many():
    # Three groups, hardly apart: few rows are no evidence, many are.
    rows = np.random.default_rng(1).normal(size=(36, 20))
    rows[:, 0] += np.repeat([0.0, 2.5, 5.0], 12)
    kmeans = KMeans(3, n_init=5, random_state=0).fit(rows)
    of = *kmeans._mixture(), np.inf, rows
    assert fewer_clusters(*of) is not None
    assert fewer_clusters(*of, np.full(len(rows), 1000.0)) is None


def test_clusters_of_another_shape_are_found():
    # Four groups in two columns, among columns that are wide and tell nothing.
    rows = RNG.normal(size=(600, 4)) * [1.0, 1.0, 3.0, 3.0]
    rows[:, :2] += 6.0 * RNG.integers(2, size=(600, 2))
    assert clusters_of_any_shape(6, rows) == (4, "tied")
    assert clusters_of_any_shape(6, RNG.normal(size=(600, 4))) is None


@pytest.mark.parametrize("scale", [0.0, 1e200, np.nan])
def test_what_cannot_be_searched_is_not_asked(scale):
    kmeans = KMeans(4, random_state=0).fit(X)
    assert fewer_clusters(*kmeans._mixture(), 0.0, X * scale) is None
    assert clusters_of_any_shape(4, X * scale) is None
