"""Data on which covariances vanish or numbers end: finite, sensible, warned once."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cprime import GaussianMixture

rng = np.random.default_rng(0)
BLOBS = np.concatenate([rng.normal(size=(40, 3)) + 6.0 * i for i in range(3)])
N = len(BLOBS)
TABLE = {
    "duplicate rows": np.repeat(BLOBS[:5], 10, axis=0),
    "all rows equal": np.full((20, 3), 7.0),
    "all rows zero": np.zeros((20, 3)),
    "two distinct rows": np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0),
    "a constant column": np.c_[BLOBS, np.full(N, 3.0)],
    "a column of a tenth": np.c_[BLOBS, np.full(N, 0.1)],
    "a column of zeros": np.c_[BLOBS, np.zeros(N)],
    "two constant columns": np.c_[np.ones(N), BLOBS, np.full(N, -5.0)],
    "more columns than rows": rng.normal(size=(10, 50)),
    "one row per cluster": rng.normal(size=(3, 2)),
    "one row": np.array([[1.0, 2.0]]),
    "one column": BLOBS[:, :1],
    "offset 1e8": BLOBS + 1e8,
    "offset 1e8 of one column": BLOBS + np.array([1e8, 0.0, 0.0]),
    "offset 1e12": BLOBS + 1e12,
    "scale 1e150": BLOBS * 1e150,
    "scale 1e-150": BLOBS * 1e-150,
    "scales 1e6 and 1e-6": BLOBS * np.array([1e6, 1.0, 1e-6]),
    "scales 1e150 and 1e-150": BLOBS * np.array([1e150, 1.0, 1e-150]),
    "scales over twenty decades": rng.normal(size=(40, 9))
    * 10.0 ** np.linspace(-10, 10, 9),
    "collinear columns": np.c_[BLOBS, BLOBS[:, 0] + BLOBS[:, 1]],
    "equal columns": np.c_[BLOBS, BLOBS],
    "rows on a line": np.outer(np.arange(50.0), [1.0, 2.0, 3.0]),
    "whole numbers": rng.integers(0, 3, size=(100, 2)).astype(float),
    "zeros and ones": rng.integers(0, 2, size=(100, 4)).astype(float),
    "mostly zeros": BLOBS * (rng.uniform(size=BLOBS.shape) < 0.1),
    "an outlier": np.r_[BLOBS, [[1e6] * 3]],
    "an outlier beyond reason": np.r_[BLOBS, [[1e30] * 3]],
    "a cluster of copies": np.r_[BLOBS, np.full((40, 3), 30.0)],
    "a speck beside the wide": np.r_[BLOBS * 100, 1e-9 * rng.normal(size=(30, 3))],
    "a spread of roundings": 1.0 + rng.integers(0, 3, size=(60, 2)) * 2.3e-16,
    "heavy tails": rng.standard_cauchy(size=(150, 2)),
}
WEIGHTS = {
    "tiny weights": np.full(N, 1e-200),
    "huge weights": np.full(N, 1e200),
    "weights of all sizes": 10.0 ** rng.uniform(-200, 200, N),
    "mostly without weight": (np.arange(N) % 3 == 0) * 1.0,
    "one row with weight": np.r_[1.0, np.zeros(N - 1)],
}
CASES = [(name, X, None) for name, X in TABLE.items()]
CASES += [(name, BLOBS, weights) for name, weights in WEIGHTS.items()]
TYPES = ["full", "tied", "diag", "spherical", "isotropic"]
# Clipping switched off, products with near-singular matrices lose most digits.
ROUNDING = {None: 1e-12, 0: 1e-11}

cases = pytest.mark.parametrize("name, X, weights", CASES, ids=[c[0] for c in CASES])


def finite(values):
    return bool(np.isfinite(values).all())


def fitted(X, weights, **options):
    """Return a fit and the texts of the warnings it gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mixture = GaussianMixture(min(3, len(X)), random_state=0, **options)
        mixture.fit(X, sample_weight=weights)
    assert all(w.category is ConvergenceWarning for w in caught)
    return mixture, [str(w.message) for w in caught]


@cases
@pytest.mark.parametrize("reg_covar", ROUNDING)
@pytest.mark.parametrize("c_prime", [None, 1])
@pytest.mark.parametrize("covariance_type", TYPES)
def test_finite_and_warned_once(name, X, weights, covariance_type, c_prime, reg_covar):
    mixture, messages = fitted(
        X,
        weights,
        covariance_type=covariance_type,
        c_prime=c_prime,
        reg_covar=reg_covar,
    )
    assert len(messages) <= 1
    posterior = mixture.predict_proba(X)
    assert np.allclose(posterior.sum(axis=1), 1.0)
    for value in (
        mixture.weights_,
        mixture.means_,
        mixture.covariances_,
        mixture.precisions_,
        mixture.precisions_cholesky_,
        mixture.free_energy_,
        mixture.log_likelihood_,
        mixture.score_samples(X),
        mixture.sample(5)[0],
    ):
        assert finite(value)
    assert mixture.gap_ >= 0.0
    values = mixture.trace_["free_energy"]
    room = ROUNDING[reg_covar] * (1.0 + np.abs(values).max())
    assert np.all(np.diff(values) >= -room)
    floored = int(mixture.trace_["floored"][-1])
    assert bool(floored) == any("clipped" in m for m in messages)


@pytest.mark.parametrize("covariance_type", TYPES)
@pytest.mark.parametrize("name", ["offset 1e8", "scale 1e150", "scale 1e-150"])
def test_units_and_offsets_change_no_cluster(name, covariance_type):
    plain, _ = fitted(BLOBS, None, covariance_type=covariance_type)
    moved, _ = fitted(TABLE[name], None, covariance_type=covariance_type)
    assert np.array_equal(moved.predict(TABLE[name]), plain.predict(BLOBS))


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag"])
def test_every_feature_may_have_its_own_scale(covariance_type):
    scales = np.array([1e60, 1.0, 1e-60])
    means = np.array([BLOBS[i : i + 40].mean(axis=0) for i in (0, 40, 80)])
    options = {"covariance_type": covariance_type}
    plain, _ = fitted(BLOBS, None, means_init=means, **options)
    scaled, _ = fitted(BLOBS * scales, None, means_init=means * scales, **options)
    units = scales**2 if covariance_type == "diag" else np.outer(scales, scales)
    assert np.allclose(scaled.covariances_ / units, plain.covariances_, rtol=1e-6)


def test_a_warning_names_the_clusters_that_are_flat():
    X = TABLE["a cluster of copies"]
    mixture, (message,) = fitted(X, None, covariance_type="diag", max_iter=500)
    (flat,) = np.flatnonzero(np.all(mixture.covariances_ < 1e-2, axis=1))
    assert f"cluster {flat} of 3 was clipped" in message
    assert np.allclose(mixture.means_[flat], 30.0)


def test_a_warning_of_many_gives_their_number():
    X = np.repeat(np.arange(30.0)[:, None], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"0, 1, 2.*\.\.\. \(12 in all\) of 12"):
        GaussianMixture(12, covariance_type="isotropic", reg_covar=1e4).fit(X)


def test_reg_covar_is_a_clip_and_not_a_ridge():
    plain = fitted(BLOBS, None, reg_covar=0)[0].covariances_
    assert np.allclose(fitted(BLOBS, None, reg_covar=1e-3)[0].covariances_, plain)
    clipped = fitted(BLOBS, None, covariance_type="diag", reg_covar=9.0)[0]
    assert np.all(clipped.covariances_ >= 9.0)


def test_what_float64_cannot_hold_is_said():
    with pytest.raises(ValueError, match=r"covariances_ are too small for float64"):
        GaussianMixture(2).fit(BLOBS * 1e-300)
    narrow = (BLOBS * 1e-25).astype(np.float32)
    with pytest.raises(ValueError, match=r"too small for float32.*give it as float64"):
        GaussianMixture(2).fit(narrow)


def test_in_float32_the_free_energy_is_that_of_the_covariances_seen():
    shared = rng.normal(size=(500, 1))
    X = (shared + 1e-3 * rng.normal(size=(500, 17))).astype(np.float32)
    X[:250] += 3
    for covariance_type in TYPES:
        mixture, _ = fitted(X, None, covariance_type=covariance_type)
        found = mixture.free_energy(X)
        assert mixture.free_energy_ == pytest.approx(found, abs=1e-6)


def test_a_cluster_that_died_is_named():
    for covariance_type in TYPES:
        mixture, (message,) = fitted(
            BLOBS,
            None,
            covariance_type=covariance_type,
            means_init=[[3.0] * 3, [9.0] * 3, [1e4] * 3],
        )
        if mixture.n_relocations_:
            assert "No row was left to cluster 2" in message
        else:
            assert "No row belongs to cluster 2" in message
            assert mixture.weights_[2] < 1e-15


def test_precisions_without_an_inverse_are_refused():
    for covariance_type, precisions in (
        ("tied", np.eye(3) * 1e-320),
        ("full", np.tile(np.eye(3) * 1e-320, (3, 1, 1))),
        ("diag", np.full((3, 3), 1e-320)),
    ):
        mixture = GaussianMixture(
            3, covariance_type=covariance_type, precisions_init=precisions
        )
        with pytest.raises(ValueError, match="precisions_init is not valid"):
            mixture.fit(BLOBS)
