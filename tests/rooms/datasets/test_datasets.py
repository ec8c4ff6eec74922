"""The data sets are what they say they are."""

import numpy as np
import pytest

from cprime import KMeans, bounds
from cprime.datasets import make_birch_grid, make_birch_random, make_seven_gaussians
from cprime.models import Isotropic
from cprime.theta import Theta


@pytest.mark.parametrize(
    "make", [make_birch_grid, make_birch_random, make_seven_gaussians]
)
def test_data_agree_with_the_truth_they_come_with(make):
    data, labels, centers, variance = make(rng=0)
    assert data.shape == (len(labels), 2)
    assert (np.bincount(labels) == len(data) // len(centers)).all()
    assert (data - centers[labels]).var() == pytest.approx(variance, rel=0.05)
    np.testing.assert_array_equal(data, make(rng=0).data)
    assert not np.array_equal(data, make(rng=1).data)


def test_the_grid_is_four_root_two_apart():
    centers = make_birch_grid(5, 1, rng=0).centers
    assert len(centers) == 25
    gaps = np.linalg.norm(centers[:, None] - centers, axis=-1)[~np.eye(25, dtype=bool)]
    assert gaps.min() == pytest.approx(4 * np.sqrt(2))


def test_random_centers_fill_the_square():
    centers = make_birch_random(2000, 1, rng=0).centers
    side = 5 * 4 * np.sqrt(2)
    assert 0 <= centers.min() < 0.02 * side and 0.98 * side < centers.max() <= side


def test_on_seven_gaussians_kmeans_raises_its_bound_and_lowers_the_likelihood():
    data, _, centers, variance = make_seven_gaussians(5000, rng=0)

    def likelihood(theta):
        return bounds.log_likelihood(data, Isotropic().coefficients(theta))

    km = KMeans(7, init=centers, tol=0).fit(data)
    likelihood_at_start = likelihood(Theta(centers, km.trace_["variance"][0]))
    assert km.free_energy_ > km.trace_["free_energy"][0] + 0.1
    assert km.log_likelihood_ < likelihood_at_start - 0.02
    truth = likelihood(Theta(centers, variance))
    em = KMeans(7, init=centers, variance_init=variance, c_prime=None).fit(data)
    assert em.log_likelihood_ == pytest.approx(truth, abs=2e-3)
