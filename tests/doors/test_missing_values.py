"""Missing values at the door of `GaussianMixture`: asked for, or a clear message."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from versions import HAS_CALLBACKS

from cprime import GaussianMixture, KMeans

TYPES = ["diag", "spherical", "isotropic"]
types = pytest.mark.parametrize("covariance_type", TYPES)


def mixture(covariance_type="diag", **parameters):
    settings = {"n_components": 2, "random_state": 0, "missing": "marginalize"}
    return GaussianMixture(
        covariance_type=covariance_type, **{**settings, **parameters}
    )


def two_groups(dtype=np.float64):
    """Return rows of two groups of which a fifth of all values are missing."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3))
    X[:80] += [8.0, -8.0, 3.0]
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    return X.astype(dtype)


@types
def test_groups_are_found_in_what_is_observed(covariance_type):
    X = two_groups()
    labels = mixture(covariance_type).fit_predict(X)
    known = ~np.isnan(X[:, :2]).all(axis=1)
    labels, truth = labels[known], np.arange(200)[known] < 80
    assert max(np.mean(labels == truth), np.mean(labels != truth)) > 0.99


def test_a_diagonal_gaussian_has_the_moments_of_what_is_observed():
    X = two_groups()
    one = mixture(n_components=1, tol=1e-15, max_iter=1000).fit(X)
    np.testing.assert_allclose(one.means_[0], np.nanmean(X, axis=0), rtol=1e-6)
    np.testing.assert_allclose(one.covariances_[0], np.nanvar(X, axis=0), rtol=1e-6)


@pytest.mark.parametrize("covariance_type", ["full", "tied"])
@pytest.mark.parametrize("X", [two_groups(), np.nan_to_num(two_groups())])
def test_matrices_cannot_and_say_who_can(covariance_type, X):
    with pytest.raises(ValueError, match=r"'diag', 'spherical', 'isotropic'"):
        mixture(covariance_type).fit(X)


def test_matrices_cannot_after_a_fit_either():
    full = GaussianMixture(2).fit(np.nan_to_num(two_groups()))
    full.set_params(missing="marginalize")
    with pytest.raises(ValueError, match="covariance_type='full'"):
        full.predict(two_groups())


@pytest.mark.parametrize("covariance_type", [*TYPES, "full", "tied"])
def test_unless_asked_for_a_missing_value_is_an_error(covariance_type):
    X = np.nan_to_num(two_groups())
    fitted = mixture(covariance_type, missing="error").fit(X)
    X[3, 1] = np.nan
    message = "NaN at row 3, column 1; 1 value.*missing='marginalize'"
    with pytest.raises(ValueError, match=message):
        clone(fitted).fit(X)
    with pytest.raises(ValueError, match=message):
        fitted.predict(X)


def test_an_estimator_that_cannot_does_not_offer_it():
    with pytest.raises(ValueError, match=r"impute them first\.$"):
        KMeans(2).fit(two_groups())


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_stays_an_error(value):
    X = two_groups()
    fitted = mixture().fit(X)
    X[5, 2] = value
    message = r"infinity at row 5, column 2; 1 value is infinite in all"
    for method in (clone(fitted).fit, fitted.predict, fitted.score_samples):
        with pytest.raises(ValueError, match=message) as error:
            method(X)
        assert "marginalize" not in str(error.value)


@pytest.mark.parametrize("weights", [None, np.arange(200) > 0])
def test_a_column_of_nothing_is_named(weights):
    X = pd.DataFrame(two_groups(), columns=["height", "weight", "age"])
    X["weight"] = np.nan
    if weights is not None:
        # A value of a row without weight does not count.
        X.loc[0, "weight"] = 7.0
    with pytest.raises(ValueError, match=r"column 1 \('weight'\).*drop the column"):
        mixture().fit(X, sample_weight=weights)


def test_at_prediction_any_column_may_be_missing():
    X = two_groups()
    fitted = mixture().fit(X)
    nothing = np.full((3, 3), np.nan)
    np.testing.assert_allclose(fitted.predict_proba(nothing), [fitted.weights_] * 3)
    np.testing.assert_allclose(fitted.score_samples(nothing), 0.0, atol=1e-12)
    assert fitted.predict(nothing).tolist() == [np.argmax(fitted.weights_)] * 3
    X[:, 1] = np.nan
    assert np.isfinite(fitted.score_samples(X)).all()
    assert np.isfinite([fitted.bic(X), fitted.aic(X), fitted.gap(X)]).all()
    assert fitted.gap(X, per="row", c_prime=1).shape == (200,)


@types
@pytest.mark.parametrize("c_prime", [1, None])
def test_float32_stays_float32(covariance_type, c_prime):
    X = two_groups(np.float32)
    fitted = mixture(covariance_type, c_prime=c_prime).fit(X)
    double = mixture(covariance_type, c_prime=c_prime).fit(X.astype(np.float64))
    assert fitted.means_.dtype == fitted.predict_proba(X).dtype == np.float32
    np.testing.assert_allclose(fitted.means_, double.means_, rtol=1e-5, atol=1e-5)
    assert np.isclose(fitted.free_energy(X), fitted.free_energy_, rtol=1e-12)


def test_frames_may_have_none_or_nan_or_na():
    X = two_groups()
    names = ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=names)
    expected = mixture().fit(frame)
    objects = frame.astype(object).where(frame.notna(), None)
    for same in (objects, frame.astype("Float64")):
        found = mixture().fit(same)
        assert found.means_.tobytes() == expected.means_.tobytes()
        assert found.predict(same).tolist() == expected.predict(frame).tolist()


def test_sparse_rows_may_store_what_is_missing():
    X = two_groups()
    fitted = mixture().fit(X)
    assert fitted.predict(sp.csr_array(X)).tolist() == fitted.predict(X).tolist()


def test_a_warm_start_goes_on_where_the_fit_before_ended():
    X = two_groups()
    warm = mixture(warm_start=True, tol=1e-12, max_iter=500).fit(X)
    before = warm.free_energy_
    assert warm.fit(X).n_iter_ <= 2
    assert np.isclose(warm.free_energy_, before, rtol=1e-10)


def test_a_kernel_that_cannot_is_not_replaced():
    X = two_groups()
    with pytest.raises(ValueError, match="'native' does not support missing values"):
        mixture(kernel="native").fit(X)
    fitted = mixture(kernel="native").fit(np.nan_to_num(X))
    with pytest.raises(ValueError, match="'native' does not support missing values"):
        fitted.predict(X)


def test_a_feature_with_one_value_and_holes_is_flat():
    X = two_groups()
    X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, 0.1)
    with pytest.warns(UserWarning, match="flat"):
        fitted = mixture().fit(X)
    np.testing.assert_allclose(fitted.means_[:, 2], 0.1)
    assert np.isfinite(fitted.free_energy_)


def test_an_outlandish_value_is_still_refused_beside_missing_ones():
    X = two_groups()
    X[9, 1] = 1e300
    fitted = mixture().fit(two_groups())
    with pytest.raises(ValueError, match="row 9, column 1"):
        fitted.predict(X)


def test_scikit_learn_is_told():
    for covariance_type in TYPES:
        assert mixture(covariance_type).__sklearn_tags__().input_tags.allow_nan
    for other in (mixture(missing="error"), mixture("full")):
        assert not other.__sklearn_tags__().input_tags.allow_nan
    assert make_pipeline(StandardScaler(), mixture()).fit(two_groups())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([mixture(name, n_components=1) for name in TYPES])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_no_check_fails_and_none_is_expected_to():
    diagonal = GaussianMixture(covariance_type="diag", missing="marginalize")
    records = check_estimator(diagonal, on_fail=None)
    not_passed = {r["check_name"] for r in records if r["status"] != "passed"}
    # Skipped unless SCIPY_ARRAY_API is set: numpy arrays are the only kind we claim.
    assert not_passed <= {"check_array_api_input"}
    if HAS_CALLBACKS:
        # Older versions of scikit-learn have fewer checks.
        assert len(records) >= 47
