"""What one cluster would be worth is known without a look at the rows."""

import numpy as np
import pytest

from cprime import GaussianMixture, KMeans
from cprime.selection.one_cluster import against_one

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(c, s, (300, 3)) for c, s in ((0, 1), (4, 2), (9, 1))])
TYPES = ("full", "tied", "diag", "spherical", "isotropic")


@pytest.mark.parametrize("kind", TYPES)
def test_it_is_that_of_a_fit_of_one_cluster(kind):
    mixture = GaussianMixture(3, covariance_type=kind, random_state=0, tol=1e-9)
    mixture.set_params(max_iter=500).fit(X)
    one = GaussianMixture(1, covariance_type=kind).fit(X)
    model, theta = mixture._mixture()
    found = against_one(
        model, theta, theta.proportions, mixture.log_likelihood_, len(X)
    )
    assert found.of_clusters == pytest.approx(mixture.bic(X), rel=1e-9)
    assert found.of_one == pytest.approx(one.bic(X), rel=1e-6)


def test_it_is_that_of_k_means_too():
    kmeans = KMeans(4, random_state=0, tol=0).fit(X)
    shares = np.bincount(kmeans.labels_) / len(X)
    found = against_one(*kmeans._mixture(), shares, kmeans.log_likelihood_, len(X))
    assert found.of_clusters == pytest.approx(kmeans.bic(X), rel=1e-9)
    assert found.of_one == pytest.approx(KMeans(1).fit(X).bic(X), rel=1e-9)


def test_one_cluster_is_not_compared_with_itself():
    one = GaussianMixture(1).fit(X)
    model, theta = one._mixture()
    assert against_one(model, theta, np.ones(1), one.log_likelihood_, 900) is None
