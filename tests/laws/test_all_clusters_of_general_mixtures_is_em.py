"""With C' = C steps are those of scikit-learn's EM, for every covariance type."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixtures import MODELS, matrices, mixtures
from sklearn.mixture import GaussianMixture

N_ITERATIONS = 4
SAME, NARROW = 1e-9, 1e-3


def precisions(mixture):
    covariance = mixture.theta.covariance
    if mixture.name in ("spherical", "diag"):
        return 1 / covariance
    return np.linalg.inv(covariance[0] if mixture.name == "tied" else covariance)


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
def test_iterates_are_those_of_scikit_learn(name, data):
    mixture = data.draw(mixtures([name], equal=False, gridded=False, spare=4, max_C=3))
    # scikit-learn knows no weights.
    if not np.all(mixture.case.weights == mixture.case.weights[0]):
        return
    # Nor does it find a variance far from zero: squares there cancel.
    centre = mixture.case.X.mean(axis=0)
    X = mixture.case.X - centre
    theirs = GaussianMixture(
        mixture.case.C,
        covariance_type=name,
        tol=0.0,
        reg_covar=0.0,
        max_iter=N_ITERATIONS,
        means_init=mixture.theta.means - centre,
        weights_init=mixture.theta.proportions,
        precisions_init=precisions(mixture),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs.fit(X)
        except ValueError:
            # A covariance came out singular there.
            return
    problem, theta = mixture.problem(mixture.case.C), mixture.theta
    for _ in range(N_ITERATIONS):
        _, stats = problem.sweep(theta, None)
        theta = problem.model.maximize(stats, theta)
    scale = np.sqrt(X.var(axis=0).mean())
    covariance = theta.covariance[0] if name == "tied" else theta.covariance
    sigmas = matrices(theta.covariance, mixture.case.C, mixture.case.D)
    narrowest = np.linalg.eigvalsh(sigmas).min()
    if narrowest < NARROW * scale**2:
        # Rounding errors grow with every step.
        return
    np.testing.assert_allclose(theta.means - centre, theirs.means_, atol=SAME * scale)
    np.testing.assert_allclose(theta.proportions, theirs.weights_, atol=SAME)
    np.testing.assert_allclose(covariance, theirs.covariances_, atol=SAME * scale**2)
