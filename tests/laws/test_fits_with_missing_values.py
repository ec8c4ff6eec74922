"""Fits of rows with missing values obey the laws that all fits obey."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from incomplete import MODELS, holes, incompletes, log_joints
from problems import cases, fewer_examples, generator
from scipy.special import logsumexp

from cprime import GaussianMixture
from cprime.fitting.mixture_initialization import NAMES
from cprime.theta import Theta

# Fits are cut short, and small clusters come to be flat.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
types = pytest.mark.parametrize("covariance_type", MODELS)
inits = pytest.mark.parametrize("init_params", NAMES)
ROUNDING = 1e-8


def estimator(covariance_type, C, **parameters):
    settings = {"tol": 0.0, "max_iter": 12, "random_state": 0, "missing": "marginalize"}
    return GaussianMixture(
        C, covariance_type=covariance_type, **{**settings, **parameters}
    )


def fitted_theta(mixture):
    means, weights = (a.astype(np.float64) for a in (mixture.means_, mixture.weights_))
    return Theta(means, mixture.covariances_, weights)


@types
@fewer_examples
@given(data=st.data(), init_params=st.sampled_from(NAMES), equal=st.booleans())
def test_free_energy_never_falls_and_bounds_the_likelihood(
    covariance_type, data, init_params, equal
):
    drawn = data.draw(incompletes([covariance_type], spare=2, spared_rows=1))
    X, weights = drawn.X, drawn.weights
    mixture = estimator(
        covariance_type,
        drawn.C,
        c_prime=drawn.C_prime,
        init_params=init_params,
        equal_weights=equal,
    ).fit(X, sample_weight=weights)
    F = np.append(mixture.trace_["free_energy"], mixture.free_energy_)
    assert np.all(np.diff(F) >= -ROUNDING * (1 + np.abs(F[1:])))
    L = np.average(
        logsumexp(log_joints(X, fitted_theta(mixture)), axis=1), weights=weights
    )
    assert mixture.free_energy_ <= L + ROUNDING * (1 + abs(L))
    assert math.isclose(mixture.log_likelihood_, L, rel_tol=1e-7, abs_tol=1e-7)


@types
@fewer_examples
@given(data=st.data())
def test_what_a_fit_says_of_rows_is_what_scipy_says(covariance_type, data):
    drawn = data.draw(incompletes([covariance_type], spare=2, spared_rows=1))
    X, weights = drawn.X, drawn.weights
    mixture = estimator(covariance_type, drawn.C, c_prime=drawn.C_prime)
    mixture.fit(X, sample_weight=weights)
    joints = log_joints(X, fitted_theta(mixture))
    L = logsumexp(joints, axis=1)
    np.testing.assert_allclose(mixture.score_samples(X), L, rtol=1e-9, atol=1e-9)
    q = np.exp(joints - L[:, None])
    np.testing.assert_allclose(mixture.predict_proba(X), q, rtol=1e-5, atol=1e-6)
    F, gap = mixture.free_energy(X, weights), mixture.gap(X, weights)
    assert math.isclose(F, mixture.free_energy_, rel_tol=1e-9, abs_tol=1e-9)
    assert math.isclose(gap, mixture.gap_, rel_tol=1e-9, abs_tol=1e-9)
    assert math.isclose(
        F + gap, np.average(L, weights=weights), rel_tol=1e-7, abs_tol=1e-7
    )


@types
@inits
@pytest.mark.parametrize("c_prime", [1, 2, None])
def test_where_nothing_is_missing_nothing_changes(
    covariance_type, init_params, c_prime
):
    X = np.random.default_rng(1).normal(size=(90, 4))
    X[:30] += 4.0
    of = {"c_prime": c_prime, "init_params": init_params}
    one, other = (
        estimator(covariance_type, 3, missing=missing, **of).fit(X)
        for missing in ("marginalize", "error")
    )
    for name in ("means_", "covariances_", "weights_", "free_energy_", "gap_"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert one.predict_proba(X).tobytes() == other.predict_proba(X).tobytes()


def assert_same_fit(one, other, X, columns=slice(None)):
    scale = np.nanmax(np.abs(X))
    np.testing.assert_allclose(
        one.means_[:, columns], other.means_, rtol=1e-6, atol=1e-6 * scale
    )
    np.testing.assert_allclose(one.weights_, other.weights_, rtol=1e-6, atol=1e-6)
    F = other.free_energy_
    assert math.isclose(one.free_energy_, F, rel_tol=1e-6, abs_tol=1e-6)


def spoiled(draw, X):
    """Return rows with holes, of which every one has something left.

    Where nothing is known, clusters tie, and truncation is up to rounding.
    """
    X = X.copy()
    missing = draw(holes(X.shape, spared_rows=2))
    missing[missing.all(axis=1), 0] = False
    X[missing] = np.nan
    return X


# A single feature has no row with holes, unless all of it is missing.
roomy = cases(gridded=False, spare=8, max_C=3, max_rows=30).filter(lambda c: c.D > 1)


@types
@inits
@fewer_examples
@given(data=st.data(), case=roomy)
def test_repeated_and_shuffled_rows_are_weighted_rows(
    covariance_type, init_params, data, case
):
    if init_params == "random":
        return  # Shares are drawn row by row.
    X = spoiled(data.draw, case.X)
    counts = data.draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 3)))
    counts[: case.C + 8] += 1
    copy_of = generator(data.draw).permutation(np.repeat(np.arange(len(X)), counts))
    of = {"c_prime": case.C_prime, "init_params": init_params, "max_iter": 5}
    one, other = (estimator(covariance_type, case.C, **of) for _ in range(2))
    one.fit(X, sample_weight=counts)
    other.fit(X[copy_of])
    assert_same_fit(one, other, X)


@types
@fewer_examples
@given(data=st.data(), case=roomy)
def test_reordered_columns_have_reordered_parameters(covariance_type, data, case):
    X = spoiled(data.draw, case.X)
    columns = np.array(data.draw(st.permutations(range(case.D))))
    of = {"c_prime": case.C_prime, "max_iter": 5}
    one = estimator(covariance_type, case.C, means_init=case.means, **of).fit(X)
    other = estimator(
        covariance_type, case.C, means_init=case.means[:, columns], **of
    ).fit(X[:, columns])
    assert_same_fit(one, other, X, columns)


@types
@pytest.mark.parametrize("c_prime", [1, 2, None])
@pytest.mark.parametrize("exponent", [-450, -20, 30, 450])
def test_the_unit_of_measurement_plays_no_part(covariance_type, c_prime, exponent):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3)) * [1.0, 300.0, 0.01] + [0.0, 0.0, 5.0]
    X[:40] += [9.0, 0.0, 0.1]
    X[rng.uniform(size=X.shape) < 0.3] = np.nan
    X[7] = np.nan
    scale = math.ldexp(1.0, exponent)
    one, other = (
        estimator(covariance_type, 3, c_prime=c_prime).fit(rows)
        for rows in (X, X * scale)
    )
    np.testing.assert_allclose(other.means_ / scale, one.means_, rtol=1e-9, atol=1e-9)
    moved = np.count_nonzero(~np.isnan(X), axis=1) * math.log(scale)
    densities = one.score_samples(X) - moved
    np.testing.assert_allclose(
        other.score_samples(X * scale), densities, rtol=1e-10, atol=1e-10
    )
    F = one.free_energy_ - moved.mean()
    assert math.isclose(other.free_energy_, F, rel_tol=1e-10)


@types
def test_an_empty_cluster_moves_to_a_row_that_lacks_nothing(covariance_type):
    X = np.random.default_rng(6).normal(size=(60, 2))
    X[7], X[8] = [30.0, np.nan], [20.0, 20.0]
    means = np.array([[0.0, 0.0], [1e4, 1e4]])
    mixture = estimator(covariance_type, 2, means_init=means, c_prime=1).fit(X)
    assert mixture.n_relocations_ >= 1
    np.testing.assert_allclose(mixture.means_[1, 1], 20.0, atol=5.0)
