"""Does the kernel for GPUs find what the specification finds?"""

from dataclasses import fields

import numpy as np
import pytest

from cprime import KMeans
from cprime.blocks import Block, Kept
from cprime.kernels import get_kernel, native, reference
from cprime.search import Exact, Lazy
from cprime.stats import Stats
from cprime.theta import Coefficients

for package in ("torch", "triton"):
    pytest.importorskip(package, reason="cprime[gpu] is not installed: make test-gpu")
gpu = get_kernel("gpu")

# Triton's interpreter computes with numpy, which warns of infinities it meets.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def gaussian(rng, N, D, C):
    means = 2.0 * rng.standard_normal((C, D))
    return means[rng.integers(C, size=N)] + rng.standard_normal((N, D)), means


def lattice(rng, N, D, C):
    return rng.integers(-2, 3, (N, D)) / 4.0, rng.integers(-2, 3, (C, D)) / 4.0


def between(rng, N, D, C):
    means = rng.standard_normal((C, D))
    one, other = means[rng.integers(C, size=N)], means[rng.integers(C, size=N)]
    rows = 0.5 * (one + other)
    return np.nextafter(rows, rng.choice([-np.inf, np.inf], rows.shape)), means


def far_out(rng, N, D, C):
    rows, means = gaussian(rng, N, D, C)
    rows[:3] *= 1e9
    means[:2] *= 1e12
    return rows, means


KINDS = pytest.mark.parametrize("kind", [gaussian, lattice, between, far_out])
WHITENINGS = {
    "one": lambda rng, C, D: 0.7,
    "of clusters": lambda rng, C, D: 0.1 + rng.random(C),
    "of features": lambda rng, C, D: 0.1 + rng.random((C, D)),
}


def coefficients_of(rng, means, whitening="one", alike=True):
    C, D = means.shape
    bias = np.zeros(C) if alike else rng.standard_normal(C)
    return Coefficients(bias, means, WHITENINGS[whitening](rng, C, D))


def assert_close(found, expected):
    for field in fields(Stats):
        pair = getattr(found, field.name), getattr(expected, field.name)
        assert np.allclose(*pair, rtol=1e-11, atol=1e-11), field.name


@KINDS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize(("C_prime", "alike"), [(1, True), (1, False), (3, False)])
def test_the_closest_clusters_are_the_same_to_the_bit(
    kind, dtype, offset, C_prime, alike
):
    rng = np.random.default_rng(0)
    X, means = kind(rng, N=60, D=9, C=70)
    X, means = (X + offset).astype(dtype), means + offset
    coefficients = coefficients_of(rng, means, alike=alike)
    found = gpu.posterior(X, coefficients, C_prime)
    expected = reference.posterior(X, coefficients, C_prime)
    assert np.array_equal(found.K, expected.K)
    assert found.distances.tobytes() == expected.distances.tobytes()


@pytest.mark.parametrize("D", [1, 74, 300])
def test_rows_may_have_any_number_of_features(D):
    rng = np.random.default_rng(1)
    X, means = gaussian(rng, N=20, D=D, C=65)
    coefficients = coefficients_of(rng, means)
    found = gpu.posterior(X, coefficients, 2)
    assert np.array_equal(found.K, reference.posterior(X, coefficients, 2).K)


@pytest.mark.parametrize("room", [1, 2**24])
def test_rows_that_many_clusters_are_as_close_to_look_at_all_of_them(room, monkeypatch):
    from cprime.kernels.gpu import settling

    monkeypatch.setattr(settling, "DISTANCES_OF_LISTED", room)
    rng = np.random.default_rng(2)
    means = rng.standard_normal((80, 16))
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    X = 1e-9 * rng.standard_normal((30, 16))
    coefficients = coefficients_of(rng, means)
    found = gpu.nearest(X, coefficients)
    assert np.array_equal(found, reference.nearest(X, coefficients))


@pytest.mark.parametrize("whitening", WHITENINGS)
@pytest.mark.parametrize("C_prime", [1, 2, 6])
def test_a_sweep_adds_up_to_the_same_sums(whitening, C_prime):
    rng = np.random.default_rng(3)
    X, means = gaussian(rng, N=50, D=5, C=6)
    block = Block(X, rng.integers(0, 4, 50) / 2.0)
    coefficients = coefficients_of(rng, means, whitening, alike=False)
    results = []
    for kernel in (gpu, reference):
        kept, sums = kernel.sweep(block, None, coefficients, Exact().plan(), C_prime)
        kept, sums = kernel.sweep(block, kept, coefficients, Exact().plan(), C_prime)
        results.append((kept, sums.total()))
    (found, stats), (expected, expected_stats) = results
    assert np.array_equal(found.K, expected.K)
    assert_close(stats, expected_stats)


def test_moments_of_one_cluster_a_row_have_the_bits_of_the_processor():
    """So k-means takes the same way on both, to the last iteration."""
    rng = np.random.default_rng(4)
    X, means = gaussian(rng, N=2100, D=2, C=3)
    block = Block(X.astype(np.float32), rng.random(2100))
    coefficients = coefficients_of(rng, means)
    found, expected = (
        kernel.sweep(block, None, coefficients, Exact().plan(), 1)[1].total()
        for kernel in (gpu, native)
    )
    assert found.counts.tobytes() == expected.counts.tobytes()
    assert found.shifts.tobytes() == expected.shifts.tobytes()


@pytest.mark.parametrize("C_prime", [1, 2, 5])
@pytest.mark.parametrize("eps", [0.0, 0.1, 0.5, 1e200])
@pytest.mark.parametrize("had_one", [True, False])
def test_reluctant_rows_stay_where_they_are(C_prime, eps, had_one):
    rng = np.random.default_rng(5)
    X, means = gaussian(rng, N=60, D=3, C=66)
    coefficients = coefficients_of(rng, means, alike=C_prime == 2)
    before = np.stack([rng.permutation(66)[:C_prime] for _ in X]).astype(np.int32)
    # As after a move to an empty cluster.
    before[:10] = 7
    if had_one:
        before = np.ascontiguousarray(before[:, :1])
    block, plan = Block(X, np.ones(60)), Lazy(eps).plan()
    (found, sums), (expected, expected_sums) = (
        kernel.sweep(block, Kept(before), coefficients, plan, C_prime)
        for kernel in (gpu, reference)
    )
    assert np.array_equal(found.K, expected.K)
    assert_close(sums.total(), expected_sums.total())


def test_pieces_change_no_bit(monkeypatch):
    from cprime.kernels.gpu import residents

    rng = np.random.default_rng(6)
    X, means = gaussian(rng, N=4200, D=1, C=2)
    block, coefficients = Block(X, np.ones(4200)), coefficients_of(rng, means)

    def swept():
        kept, sums = gpu.sweep(block, None, coefficients, Exact().plan(), 1)
        return kept.K.tobytes(), [
            np.asarray(v).tobytes() for v in vars(sums.total()).values()
        ]

    whole = swept()
    monkeypatch.setattr(residents, "PIECE_LEAVES", 1)
    assert swept() == whole


@pytest.mark.parametrize("alike", [True, False])
def test_gaps_are_the_same(alike):
    rng = np.random.default_rng(7)
    X, means = gaussian(rng, N=40, D=4, C=9)
    coefficients = coefficients_of(rng, means, alike=alike)
    K = reference.posterior(X, coefficients, 2).K
    found, expected = (k.gaps(X, K, coefficients) for k in (gpu, reference))
    assert np.allclose(found, expected, rtol=1e-12, atol=0)


def test_the_same_rows_become_seeds():
    rng = np.random.default_rng(8)
    X, _ = lattice(rng, N=40, D=2, C=5)
    block, line = Block(X, rng.integers(0, 3, 40) / 2.0), rng.permutation(40)
    points = rng.random((6, 4))
    found, expected = (
        kernel.draw_seeds(block, line, 0, points)[0] for kernel in (gpu, reference)
    )
    assert np.array_equal(found, expected)


def test_of_more_means_the_nearer_is_found():
    rng = np.random.default_rng(9)
    X, means = lattice(rng, N=30, D=3, C=20)
    nearest = reference.distances(X, means[:8])
    known = nearest.min(axis=1), nearest.argmin(axis=1).astype(np.int32)
    found, expected = (
        kernel.nearer(X, means[8:], means[:8], *known) for kernel in (gpu, reference)
    )
    assert found[0].tobytes() == expected[0].tobytes()
    assert np.array_equal(found[1], expected[1])


def test_a_fit_has_the_labels_and_centers_of_the_processor():
    rng = np.random.default_rng(10)
    X = gaussian(rng, N=120, D=2, C=4)[0]
    found, expected = (
        KMeans(4, kernel=name, random_state=0).fit(X) for name in ("gpu", "native")
    )
    assert np.array_equal(found.labels_, expected.labels_)
    assert found.cluster_centers_.tobytes() == expected.cluster_centers_.tobytes()
    assert found.n_iter_ == expected.n_iter_
    assert np.array_equal(found.predict(X), expected.labels_)


def test_matrices_are_refused_with_a_remedy():
    means = np.zeros((2, 3))
    coefficients = Coefficients(np.zeros(2), means, np.stack([np.eye(3)] * 2))
    with pytest.raises(ValueError, match="use kernel='native' for those"):
        gpu.nearest(np.zeros((4, 3)), coefficients)


def test_missing_values_are_refused_with_a_remedy():
    with pytest.raises(ValueError, match="does not support missing values"):
        get_kernel("gpu", missing=True)


def test_without_a_gpu_there_is_one_clear_message(monkeypatch):
    from cprime.kernels.gpu import devices

    monkeypatch.setattr(devices, "INTERPRETED", False)
    monkeypatch.setattr(devices.torch.cuda, "is_available", lambda: False)
    devices.device.cache_clear()
    try:
        with pytest.raises(devices.NoDeviceError, match="use kernel='native'"):
            devices.device()
    finally:
        devices.device.cache_clear()


@pytest.mark.parametrize("whitening", ["one", "of clusters"])
def test_products_that_would_round_too_much_are_not_formed(whitening):
    """A row far away: sums of all clusters are right to the last digits even so."""
    rng = np.random.default_rng(11)
    X, means = gaussian(rng, N=40, D=3, C=5)
    X[3] += 1e8
    block, coefficients = Block(X, np.ones(40)), coefficients_of(rng, means, whitening)
    plan = Exact().plan()
    found, expected = (
        kernel.sweep(block, None, coefficients, plan, 5)[1].total()
        for kernel in (gpu, reference)
    )
    assert_close(found, expected)
