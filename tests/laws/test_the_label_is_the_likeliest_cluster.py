"""`predict` is where `predict_proba` is highest, whatever is rounded or tied."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans
from cprime.truncation import label_first

TYPES = ["full", "tied", "diag", "spherical", "isotropic"]
KINDS = ["k-means", "soft", "fuzzy", "quadratic", "entropy", *TYPES]


def spread_out(rng, n, D, size):
    """Draw points of every kind that makes ties, or nearly."""
    points = rng.standard_normal((n, D))
    return {
        "anywhere": points,
        "on a grid": np.round(2.0 * points) / 2.0,
        "far away": 1e16 * points,
        "far in one direction": points + 1e16 * (np.arange(D) == 0),
        "at all distances": points * 10.0 ** rng.integers(-12, 17, (n, 1)),
        "close together": 1.0 + 1e-9 * points,
        "in one place": np.ones((n, D)),
    }[size]


SIZES = ["anywhere", "on a grid", "far away", "far in one direction"]
SIZES += ["at all distances", "close together", "in one place"]


def clusters(rng, kind, means, variance, alike, kernel):
    """Return an estimator of this kind, with clusters set by hand."""
    C, D = means.shape
    of_cluster = np.ones(C) if alike else rng.uniform(0.5, 2.0, C)
    if kind in TYPES:
        mixture = GaussianMixture(C, covariance_type=kind, kernel=kernel)
        mixture.weights_, mixture.means_ = of_cluster / of_cluster.sum(), means
        root = rng.standard_normal((D, D))
        matrix = variance * (np.eye(D) + root @ root.T / D)
        mixture.covariances_ = {
            "full": of_cluster[:, None, None] * matrix,
            "tied": matrix,
            "diag": variance * of_cluster[:, None] * np.ones(D),
            "spherical": variance * of_cluster,
            "isotropic": variance,
        }[kind]
        return mixture
    found = {
        "k-means": lambda: KMeans(C, variance=variance, kernel=kernel),
        "soft": lambda: SoftKMeans(C, stiffness=0.5 / variance, kernel=kernel),
        "fuzzy": lambda: FuzzyKMeans(C, m=1.0 + min(variance, 30.0), kernel=kernel),
    }
    regularized = {"regularization": kind, "lam": variance, "kernel": kernel}
    found = found.get(kind, lambda: FuzzyKMeans(C, **regularized))()
    found.cluster_centers_ = means
    return found


def assert_label_is_likeliest(estimator, X, c_prime):
    labels = estimator.predict(X)
    for stored in (False, True):
        shares = estimator.predict_proba(X, c_prime=c_prime, sparse=stored)
        assert shares.dtype == X.dtype
        shares = shares.toarray() if stored else shares
        assert np.array_equal(np.argmax(shares, axis=1), labels)
        eps = 4.0 * np.finfo(X.dtype).eps * shares.shape[1]
        assert np.allclose(shares.sum(axis=1, dtype=np.float64), 1.0, rtol=0, atol=eps)


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 2**32 - 1),
    of_rows=st.sampled_from(SIZES),
    of_means=st.sampled_from(
        ["anywhere", "on a grid", "close together", "in one place"]
    ),
    variance=st.sampled_from([1e-6, 0.01, 1.0, 100.0, 1e9, 1e20, 1e32]),
    alike=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    sparse=st.booleans(),
    kernel=st.sampled_from(["native", "reference"]),
    data=st.data(),
)
def test_the_label_is_the_first_of_the_highest(
    kind, seed, of_rows, of_means, variance, alike, dtype, sparse, kernel, data
):
    rng = np.random.default_rng(seed)
    C, D = data.draw(st.integers(1, 12), "C"), data.draw(st.integers(1, 10), "D")
    c_prime = data.draw(st.sampled_from([None, 1, C, max(1, C // 2)]), "c_prime")
    means = spread_out(rng, C, D, of_means)
    X = spread_out(rng, 40, D, of_rows)
    # Rows that lie on means, and halfway between two.
    ends = rng.integers(0, C, (2, 10))
    X[:10] = 0.5 * (means[ends[0]] + means[ends[1]])
    X = X.astype(dtype)
    estimator = clusters(rng, kind, means, variance, alike, kernel)
    assert_label_is_likeliest(estimator, sp.csr_array(X) if sparse else X, c_prime)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_clusters_of_equal_shares_at_different_distances(kind, dtype, kernel_name):
    # The second mean is the nearer one, by less than the shares can hold.
    near = np.nextafter(1.0, 0.0)
    means = np.array([[1.0, 1.0], [1.0, near]])
    rng = np.random.default_rng(0)
    estimator = clusters(rng, kind, means, 1e9, True, kernel_name)
    for X in ([[0.0, 0.0]], [[-1e16, 0.0]], [[1e16, 1e16]], [[-1e3, -1e3]]):
        assert_label_is_likeliest(estimator, np.array(X, dtype=dtype), None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_only_the_label_is_raised_and_only_where_it_must_be(dtype):
    K = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.int32)
    shares = np.array([[0.5, 0.5], [0.5, 0.5], [0.75, 0.25]], dtype=dtype)
    found = label_first(K, shares.copy())
    assert found.dtype == dtype
    assert found[0, 0] == np.nextafter(dtype(0.5), dtype(1))
    assert np.array_equal(found[:, 1], shares[:, 1])
    assert np.array_equal(found[1:], shares[1:])
