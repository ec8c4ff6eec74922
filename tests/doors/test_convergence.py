"""When is a fit of C' > 1 done, and how soon?"""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cprime import GaussianMixture, KMeans, SoftKMeans
from cprime.convergence import Change, Rise
from cprime.fitting import mixture_initialization
from cprime.theta import Theta

RNG = np.random.default_rng(4)
# Fifteen clusters that overlap: k-means-C' goes a long way on small steps.
CENTERS = RNG.uniform(0.0, 14.0, (15, 2))
X = CENTERS[RNG.integers(15, size=3000)] + RNG.standard_normal((3000, 2))


@pytest.fixture(scope="module", params=[2, 3, 5])
def fits(request):
    """Return a default fit, and where it would have come to."""
    options = {"c_prime": request.param, "random_state": 0}
    far = KMeans(15, tol=1e-9, max_iter=3000, **options).fit(X)
    return KMeans(15, **options).fit(X), far


def test_a_default_fit_loses_next_to_nothing(fits):
    fit, far = fits
    assert fit.converged_
    assert abs(far.free_energy_ - fit.free_energy_) < 0.01


def test_it_needs_few_iterations(fits):
    fit, far = fits
    assert fit.n_iter_ <= 25 and far.n_iter_ < 300


def test_free_energy_never_falls(fits):
    for fit in fits:
        F = fit.trace_["free_energy"]
        assert (F[1:] >= F[:-1] - 1e-13 * np.abs(F[1:])).all()


def test_tol_is_in_nats_per_row():
    # The unit of X, and the number of rows that are alike, say nothing about it.
    options = {"c_prime": 3, "init": X[:15], "tol": 1e-3}
    n_iter = KMeans(15, **options).fit(X).n_iter_
    thousandfold = {**options, "init": 1000.0 * X[:15]}
    assert KMeans(15, **thousandfold).fit(1000.0 * X).n_iter_ == n_iter
    assert KMeans(15, **options).fit(np.repeat(X, 2, axis=0)).n_iter_ == n_iter


def test_all_clusters_stop_by_the_same_rule():
    soft = SoftKMeans(15, init=X[:15], stiffness=0.5, tol=1e-3).fit(X)
    F = KMeans(15, init=X[:15], c_prime=None, variance=1.0, tol=1e-3).fit(X)
    assert soft.n_iter_ == F.n_iter_ < 300


@pytest.mark.parametrize(("gain", "stops"), [(0.09, True), (0.11, False)])
def test_a_gain_below_the_tolerance_ends_a_fit(gain, stops):
    before, after = Theta(X[:2], 1.0), Theta(X[2:4], 1.0)
    change = Change(2, rows=1, before=before, after=after, gain=gain)
    assert bool(Rise(0.1).reason(change)) == stops


def test_without_a_tolerance_only_what_stands_still_is_done():
    theta, moved = Theta(X[:2], 1.0), Theta(X[:2], 1.5)
    assert Rise(0.0).reason(Change(2, 0, theta, theta, 0.0))
    assert not Rise(0.0).reason(Change(2, 0, theta, moved, 0.0))


@pytest.mark.parametrize("covariance_type", ["diag", "spherical", "isotropic"])
def test_truncated_mixtures_leap_too(covariance_type):
    options = {"covariance_type": covariance_type, "means_init": X[:15]}
    mixture = GaussianMixture(15, c_prime=3, max_iter=40, tol=0.0, **options)
    plain = clone(mixture).set_params(missing="marginalize")
    with_a_gap = np.vstack([X, [[0.0, np.nan]]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        F = mixture.fit(X).trace_["free_energy"]
        # Where values are missing there are no leaps.
        slower = plain.fit(with_a_gap).trace_["free_energy"]
    assert (F[1:] >= F[:-1] - 1e-13 * np.abs(F[1:])).all()
    assert F[30] - F[2] > slower[30] - slower[2]


@pytest.mark.parametrize("covariance_type", ["diag", "full"])
def test_mixtures_do_not_wait_for_k_means(covariance_type, monkeypatch):
    options = {"covariance_type": covariance_type, "random_state": 0}
    mixture = GaussianMixture(15, max_iter=1, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        soon = mixture.fit(X).evaluations_
        monkeypatch.setattr(mixture_initialization, "LEAST_GAIN", 1e-5)
        late = clone(mixture).fit(X).evaluations_
    assert soon < 0.8 * late
