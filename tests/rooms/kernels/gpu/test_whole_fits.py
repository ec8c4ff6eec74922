"""Do fits that stay on the device go the way of those that are watched?"""

import numpy as np
import pytest

from cprime import KMeans
from cprime.blocks import Block
from cprime.kernels import get_kernel
from cprime.parallel_seeding import kmeans_parallel
from cprime.rows import MemoryRows

for package in ("torch", "triton"):
    pytest.importorskip(package, reason="cprime[gpu] is not installed: make test-gpu")

# Triton's interpreter computes with numpy, which warns of infinities it meets.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def data(N=300, D=3, C=6, seed=0):
    rng = np.random.default_rng(seed)
    means = 2.0 * rng.standard_normal((C, D))
    return (means[rng.integers(C, size=N)] + rng.standard_normal((N, D))).astype("f4")


@pytest.mark.parametrize("stopped", [{}, {"tol": 0.0}, {"max_iter": 2}])
@pytest.mark.parametrize("weighted", [False, True])
def test_nobody_looking_on_changes_no_bit(stopped, weighted):
    X = data()
    weights = np.random.default_rng(1).integers(0, 3, len(X)) if weighted else None
    alone, watched = (
        KMeans(6, kernel="gpu", random_state=0, **stopped) for _ in range(2)
    )
    alone.fit(X, sample_weight=weights)
    watched.fit(X, sample_weight=weights, progress=lambda progress: None)
    assert alone.n_iter_ == watched.n_iter_
    for name in ("cluster_centers_", "labels_", "inertia_", "free_energy_"):
        found, expected = (getattr(of, name) for of in (alone, watched))
        assert np.asarray(found).tobytes() == np.asarray(expected).tobytes(), name
    for key in set(alone.trace_) - {"seconds"}:
        assert np.array_equal(alone.trace_[key], watched.trace_[key]), key


def test_a_cluster_without_rows_is_left_to_those_who_watch():
    X = data(N=60)
    init = np.concatenate([X[:5], [[1e3, 0, 0]]]).astype("f4")
    found, expected = (
        KMeans(6, init=init, n_init=1, kernel=name).fit(X) for name in ("gpu", "native")
    )
    assert np.array_equal(found.labels_, expected.labels_)
    assert np.bincount(found.labels_, minlength=6).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_candidates_are_the_same_rows_as_in_memory(weighted):
    X = np.round(data(N=400, D=2), 1)
    weights = None
    if weighted:
        weights = np.random.default_rng(2).integers(0, 3, len(X)).astype(float)
    seeds = {}
    for name in ("gpu", "native"):
        rows, kernel = MemoryRows(X, weights), get_kernel(name)
        rows.prepare(kernel)
        rng = np.random.default_rng(3)
        seeds[name] = kmeans_parallel(rows, 7, kernel, rng)
    assert np.array_equal(seeds["gpu"].means, seeds["native"].means)
    found, expected = (of.assigned().K.array() for of in seeds.values())
    assert np.array_equal(found, expected)


def test_rows_whose_keys_are_alike_are_drawn_whatever_their_order():
    # Beside the first feature, what the second adds to a key is lost to rounding.
    rng = np.random.default_rng(4)
    X = np.stack([1e17 * rng.integers(0, 3, 200), rng.integers(0, 9, 200)], axis=1)
    kernel, found = get_kernel("gpu"), []
    for order in (np.arange(200), rng.permutation(200)):
        rows = MemoryRows(X[order])
        rows.prepare(kernel)
        found.append(kmeans_parallel(rows, 5, kernel, np.random.default_rng(5)).means)
    assert np.array_equal(*found)


def test_extremes_are_those_of_rows_that_weigh_something():
    X, weights = data(N=50), np.ones(50)
    X[7], weights[7] = 1e6, 0.0
    resident = get_kernel("gpu").prepare(Block(X, weights))
    expected = MemoryRows(X, weights).extremes()
    assert np.array_equal(resident.extremes(), expected)


def test_rows_that_do_not_stay_on_the_device_are_fitted_to_the_same_bits(monkeypatch):
    from cprime.kernels.gpu import residents

    X, found = data(N=2100), []
    for share, leaves in ((0.6, 2**11), (0.0, 1)):
        monkeypatch.setattr(residents, "SHARE_OF_MEMORY", share)
        monkeypatch.setattr(residents, "PIECE_LEAVES", leaves)
        fitted = KMeans(6, kernel="gpu", init="k-means||", random_state=0).fit(X)
        found.append((fitted.labels_.tobytes(), fitted.cluster_centers_.tobytes()))
    assert found[0] == found[1]
