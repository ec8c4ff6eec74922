"""How far rows spread: means and variances as numpy has them, where nothing cancels."""

import numpy as np
import pytest

from cprime.kernels import native, reference
from cprime.rows import MemoryRows
from cprime.spread import feature_moments, observed_moments, one_cluster

RNG = np.random.default_rng(3)
X = RNG.normal(size=(500, 4)) * [1.0, 2.0, 0.1, 5.0] + [0.0, 1e6, 3.0, -2.0]
WEIGHTS = RNG.integers(0, 4, size=len(X)).astype(float)
REPEATED = np.repeat(X, WEIGHTS.astype(int), axis=0)


@pytest.mark.parametrize("kernel", [native, reference])
def test_one_cluster_has_the_mean_and_variance_of_all_rows(kernel):
    found = one_cluster(MemoryRows(X, WEIGHTS), kernel)
    np.testing.assert_allclose(found.means[0], REPEATED.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.covariance, REPEATED.var(axis=0).mean(), rtol=1e-9)


def test_features_have_moments_of_their_own():
    means, variances = feature_moments(MemoryRows(X, WEIGHTS), native)
    np.testing.assert_allclose(means, REPEATED.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variances, REPEATED.var(axis=0), rtol=1e-9)


def test_moments_of_what_is_observed_leave_out_what_is_missing():
    holes = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
    means, variances = observed_moments(MemoryRows(holes, np.ones(len(X))))
    np.testing.assert_allclose(means, np.nanmean(holes, axis=0), rtol=1e-12)
    np.testing.assert_allclose(variances, np.nanvar(holes, axis=0), rtol=1e-9)


def test_a_feature_that_is_the_same_in_all_rows_has_no_variance():
    constant = np.full((77, 2), 0.1)
    means, variances = observed_moments(MemoryRows(constant, np.ones(77)))
    assert means.tolist() == [0.1, 0.1] and variances.tolist() == [0.0, 0.0]
