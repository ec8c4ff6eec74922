"""Every verdict asks first whether one cluster, or fewer, would do."""

import numpy as np
import pytest

from cprime import KMeans
from cprime.advice.number_of_clusters import SomeRows, number_of_clusters

RNG = np.random.default_rng(0)
GRID = 6.0 * RNG.integers(2, size=(600, 2))
NOISE = RNG.normal(size=(600, 4))
SPHERES, LONG = NOISE.copy(), NOISE * [1.0, 1.0, 4.0, 4.0]
SPHERES[:, :2] += GRID
LONG[:, :2] += GRID


@pytest.mark.parametrize(
    ("X", "C", "headline"),
    [
        (NOISE, 5, "One cluster describes these rows better."),
        (SPHERES, 4, "4 clusters describe these rows better than one."),
        (SPHERES, 9, "Fewer clusters describe these rows better: 4 instead of 9."),
        (LONG, 4, "Clusters of another shape describe these rows better."),
    ],
)
def test_what_is_asked_first(X, C, headline):
    kmeans = KMeans(C, n_init=3, random_state=0).fit(X)
    shares = np.bincount(kmeans.labels_) / len(X)
    of = *kmeans._mixture(), shares, kmeans.log_likelihood_, float(len(X))
    some = SomeRows(X, np.ones(len(X)), len(X))
    assert number_of_clusters(*of, some).headline == headline
    # Without rows, only one cluster of the same shape is asked about.
    alone = number_of_clusters(*of).headline
    assert alone == headline or "fewer" in headline.lower() or "shape" in headline
