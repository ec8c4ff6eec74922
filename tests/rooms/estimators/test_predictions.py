"""What is said of a row: by hand, by the estimators' own methods, block by block."""

import numpy as np
import pytest
from scipy.stats import chi2

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans, open_data
from cprime.estimators import predictions as of_rows
from cprime.estimators.predictions import predictions

RNG = np.random.default_rng(3)
X = RNG.standard_normal((900, 3)) * [1.0, 2.0, 0.5] + 3.0 * RNG.integers(0, 4, (900, 1))

ESTIMATORS = [
    KMeans(5, random_state=0),
    KMeans(5, c_prime=3, random_state=0),
    SoftKMeans(5, c_prime=2, random_state=0),
    FuzzyKMeans(5, random_state=0),
    FuzzyKMeans(5, regularization="entropy", random_state=0),
    FuzzyKMeans(5, regularization="quadratic", random_state=0),
    *(
        GaussianMixture(4, covariance_type=shape, random_state=0)
        for shape in ("full", "tied", "diag", "spherical", "isotropic")
    ),
]


def told(estimator, rows):
    ((start, found),) = predictions(estimator, open_data(rows))
    assert start == 0
    return found


@pytest.mark.parametrize("scale", [1.0, 1e140], ids=["plain", "huge"])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_it_is_what_the_estimator_says(estimator, scale):
    rows = scale * X
    found = told(estimator.fit(rows), rows)
    shares = estimator.predict_proba(rows)
    assert np.array_equal(found.label, estimator.predict(rows))
    np.testing.assert_allclose(found.probability, shares.max(axis=1))
    others = np.take_along_axis(shares, found.runner_up[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(others, np.sort(shares, axis=1)[:, -2])
    assert not np.any(found.runner_up == found.label)
    if hasattr(estimator, "score_samples"):
        np.testing.assert_allclose(found.log_density, estimator.score_samples(rows))
    has_density = hasattr(estimator, "free_energy_")
    assert (found.log_density is not None) == has_density
    assert (found.outlier_score is not None) == has_density


def test_outlier_scores_are_shares_of_a_gaussian():
    mixture = GaussianMixture(3, random_state=0).fit(X)
    found = told(mixture, X)
    difference = X - mixture.means_[found.label]
    inverse = np.linalg.inv(mixture.covariances_)[found.label]
    squares = np.einsum("nd,nde,ne->n", difference, inverse, difference)
    np.testing.assert_allclose(found.outlier_score, chi2.cdf(squares, 3), atol=1e-12)
    kmeans = KMeans(3, random_state=0).fit(X)
    found = told(kmeans, X)
    squares = ((X - kmeans.cluster_centers_[found.label]) ** 2).sum(axis=1)
    expected = chi2.cdf(squares / kmeans.variance_, 3)
    np.testing.assert_allclose(found.outlier_score, expected, atol=1e-12)


def test_blocks_change_nothing(tmp_path, monkeypatch):
    rows = RNG.standard_normal((40_000, 3))
    np.save(tmp_path / "rows.npy", rows)
    kmeans = KMeans(7, c_prime=2, random_state=0, max_iter=3).fit(rows)
    whole = told(kmeans, rows)
    monkeypatch.setattr(of_rows, "JOINTS_AT_ONCE", 1000)
    data = open_data(tmp_path / "rows.npy", memory="1.1MB")
    assert not data.in_memory
    starts, parts = zip(*predictions(kmeans, data))
    assert len(starts) > 1 and starts[0] == 0
    for name in ("label", "probability", "runner_up", "log_density", "outlier_score"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        assert np.array_equal(joined, getattr(whole, name))


def test_one_cluster_has_no_runner_up():
    found = told(KMeans(1).fit(X), X)
    assert set(found.runner_up) == {-1} and set(found.probability) == {1.0}


def test_rows_with_missing_values_count_by_what_is_observed():
    rows = X.copy()
    rows[::7, 1] = np.nan
    mixture = GaussianMixture(
        3, covariance_type="diag", missing="marginalize", random_state=0
    ).fit(rows)
    found = told(mixture, rows)
    np.testing.assert_allclose(found.log_density, mixture.score_samples(rows))
    known = [0, 2]
    difference = (rows - mixture.means_[found.label])[0, known]
    squares = np.sum(difference**2 / mixture.covariances_[found.label[0], known])
    assert found.outlier_score[0] == pytest.approx(chi2.cdf(squares, 2))


def test_a_wrong_row_is_named(tmp_path):
    rows = X.copy()
    rows[800, 2] = np.inf
    kmeans = KMeans(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="Row 800 of an array holds inf in column 2"):
        told(kmeans, rows)
