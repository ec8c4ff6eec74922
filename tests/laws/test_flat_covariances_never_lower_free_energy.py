"""F does not fall where covariances are matrices with directions that hold no rows."""

import numpy as np
import pytest

from cprime import GaussianMixture


def assert_never_falls(mixture):
    F = np.r_[mixture.trace_["free_energy"], mixture.free_energy_]
    assert np.all(np.diff(F) >= -1e-12 * (1.0 + np.abs(F[1:])))


@pytest.mark.parametrize("covariance_type", ["full", "tied"])
@pytest.mark.parametrize("reg_covar", [None, 0.0])
@pytest.mark.parametrize("seed", range(30))
# Every covariance is at its floor, and a tolerance of 0 is never reached.
@pytest.mark.filterwarnings("ignore")
def test_fewer_rows_than_features(covariance_type, reg_covar, seed):
    X = np.random.default_rng(seed).normal(size=(30, 40))
    mixture = GaussianMixture(
        2,
        covariance_type=covariance_type,
        reg_covar=reg_covar,
        random_state=seed,
        tol=0,
        max_iter=30,
    ).fit(X)
    assert_never_falls(mixture)


@pytest.mark.parametrize("covariance_type", ["full", "tied"])
@pytest.mark.parametrize("seed", [5, 27, 35, 44])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.filterwarnings("ignore")
def test_weights_and_clusters_that_become_flat_in_one_step(
    covariance_type, seed, constant
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(26, 8))
    if constant:
        X[:, 0] = 3.0
    mixture = GaussianMixture(
        5,
        covariance_type=covariance_type,
        reg_covar=0,
        init_params="random",
        random_state=0,
        tol=0,
        max_iter=20,
    ).fit(X, sample_weight=1000.0 * rng.random(26))
    assert_never_falls(mixture)


@pytest.mark.parametrize("covariance_type", ["full", "tied"])
@pytest.mark.parametrize("c_prime", [1, 2, None])
@pytest.mark.parametrize("far", [1e6, 1e10, 1e14])
@pytest.mark.filterwarnings("ignore")
def test_rows_much_farther_than_the_covariances_given(
    kernel_name, covariance_type, c_prime, far
):
    X = np.random.default_rng(0).standard_normal((40, 2))
    X[0] = [far, 0.0]
    precisions = np.eye(2) if covariance_type == "tied" else [np.eye(2)] * 4
    mixture = GaussianMixture(
        4,
        covariance_type=covariance_type,
        means_init=X[[1, 1, 1, 1]],
        precisions_init=precisions,
        c_prime=c_prime,
        kernel=kernel_name,
    ).fit(X)
    assert_never_falls(mixture)
