"""A fit of a Dask collection is the fit in memory, wherever chunks begin and end."""

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans
from cprime.checking.covariances import COVARIANCES

N, D, C = 7001, 3, 5
OF_A_FIT = (
    *("cluster_centers_", "means_", "weights_", "covariances_", "variance_"),
    *("inertia_", "objective_", "free_energy_", "log_likelihood_", "gap_"),
    *("n_iter_", "evaluations_", "n_relocations_"),
)


def estimators():
    start = {"init": "k-means||", "random_state": 0, "max_iter": 6}
    yield KMeans(C, **start)
    yield KMeans(C, **start, c_prime=2)
    yield KMeans(C, **start, c_prime=None)
    yield KMeans(C, **start, search="lazy")
    yield SoftKMeans(C, **start)
    for regularization in (None, "quadratic", "entropy"):
        yield FuzzyKMeans(C, **start, regularization=regularization)
    for covariance_type in COVARIANCES:
        yield GaussianMixture(
            3,
            covariance_type=covariance_type,
            init_params="k-means||",
            random_state=0,
            tol=0.1,
        )


@st.composite
def chunkings(draw):
    """Return lengths of chunks that have N rows in all; some may have none."""
    cuts = sorted(draw(st.lists(st.integers(0, N), max_size=6)))
    return tuple(int(n) for n in np.diff([0, *cuts, N]))


def rows_of(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) + 3 * rng.integers(0, 4, size=(N, 1))
    return X, rng.random(N)


def assert_same_bits(fitted, expected):
    for name in OF_A_FIT:
        if hasattr(expected, name):
            found = getattr(fitted, name)
            np.testing.assert_array_equal(found, getattr(expected, name), name)
    if hasattr(expected, "labels_"):
        np.testing.assert_array_equal(fitted.labels_.compute(), expected.labels_)


@pytest.mark.parametrize("estimator", list(estimators()), ids=str)
@settings(max_examples=4)
@given(
    lengths=chunkings(),
    of_weights=chunkings(),
    dtype=st.sampled_from(["f4", "f8"]),
    weighted=st.booleans(),
)
def test_chunks_change_no_bit(estimator, lengths, of_weights, dtype, weighted):
    X, weights = rows_of(0)
    X = X.astype(dtype)
    given_weights = lazy_weights = None
    if weighted:
        given_weights = weights
        lazy_weights = da.from_array(weights, chunks=(of_weights,))
    expected = type(estimator)(**estimator.get_params())
    lazy = da.from_array(X, chunks=(lengths, (1, D - 1)))
    with dask.config.set(scheduler="synchronous"):
        estimator.fit(lazy, sample_weight=lazy_weights)
        expected.fit(X, sample_weight=given_weights)
        assert_same_bits(estimator, expected)
        assert getattr(estimator, "labels_", lazy).chunks[0] == lengths


@given(lengths=chunkings())
@settings(max_examples=4)
def test_empty_clusters_move_to_the_same_rows(lengths):
    X, _ = rows_of(1)
    X[:40] = X[0]
    X[40] += 50.0
    start = np.concatenate([X[:2], X[1:2], X[5:6] + 1e3, X[6:7] - 1e3])
    with dask.config.set(scheduler="synchronous"):
        expected = KMeans(C, init=start, max_iter=4).fit(X)
        fitted = KMeans(C, init=start, max_iter=4).fit(
            da.from_array(X, chunks=(lengths, D))
        )
        assert expected.n_relocations_ > 0
        assert_same_bits(fitted, expected)
