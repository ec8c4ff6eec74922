"""k-means from its own optimum stays there, to the last bit."""

import numpy as np
import pytest
import scipy.sparse as sp

from cprime import KMeans

DATA = {
    "as drawn": lambda X: X,
    "about zero": lambda X: X - X.mean(axis=0),
    "far from zero": lambda X: X + 1e8,
    "features of many scales": lambda X: X * 10.0 ** np.arange(0, -3 * X.shape[1], -3),
    "copies": lambda X: np.repeat(X[::3], 3, axis=0),
    "sparse": lambda X: sp.csr_array(np.where(X > 0, X, 0.0)),
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("tol", [0.0, 1e-4])
def test_a_fit_from_its_own_optimum_does_not_move(data, seed, tol, kernel_name):
    rng = np.random.default_rng(seed)
    C, D = rng.integers(1, 9), rng.integers(1, 6)
    centers = 4.0 * rng.normal(size=(C, D))
    X = DATA[data](np.concatenate([c + rng.normal(size=(60, D)) for c in centers]))
    weights = rng.integers(0, 4, size=X.shape[0]) if seed % 2 else None
    options = {"n_init": 1, "tol": tol, "kernel": kernel_name}
    optimum = KMeans(C, random_state=seed, **{**options, "tol": 0.0})
    optimum.fit(X, sample_weight=weights)
    assert optimum.converged_
    assert np.all(np.diff(optimum.trace_["free_energy"]) >= -1e-12)
    again = KMeans(C, init=optimum.cluster_centers_, **options)
    again.fit(X, sample_weight=weights)
    assert np.array_equal(again.cluster_centers_, optimum.cluster_centers_)
    assert again.inertia_ == optimum.inertia_
    assert np.array_equal(again.labels_, optimum.labels_)


def test_rows_that_differ_in_a_small_feature_alone_still_move_its_mean(kernel_name):
    # Beside the first feature, steps along the second look like rounding errors.
    X = np.array([[9e6, 1e-11], [11e6, 3e-11], [-9e6, 1e-11], [-11e6, 5e-11]])
    start = np.array([[1e7, 1e-11], [-1e7, 1e-11]])
    kmeans = KMeans(2, init=start, n_init=1, kernel=kernel_name).fit(X)
    np.testing.assert_allclose(kmeans.cluster_centers_[:, 1], [2e-11, 3e-11])
