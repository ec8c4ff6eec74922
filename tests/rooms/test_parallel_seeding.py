"""Seeds of k-means|| are as good as greedy ones, whatever holds the rows."""

import numpy as np
import pytest

from cprime import open_data, parallel_seeding, seeding
from cprime.kernels import native, reference
from cprime.keyed_rows import KeyedRows
from cprime.models import Isotropic
from cprime.parallel_seeding import kmeans_parallel, pays
from cprime.rows import MemoryRows
from cprime.rows.file import FileRows
from cprime.theta import Theta

RNG = np.random.default_rng(4)
X = (RNG.normal(size=(60, 5))[RNG.integers(60, size=60_000)] * 3.0).astype("f4")
X += 0.7 * RNG.normal(size=X.shape).astype("f4")
WEIGHTS = RNG.uniform(0.0, 2.0, len(X))


def seeds(rows, C=60, seed=0):
    return kmeans_parallel(rows, C, native, np.random.default_rng(seed))


def loss(means):
    coefficients = Isotropic().coefficients(Theta(means, 1.0))
    return native.posterior(X, coefficients, 1).distances.sum()


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    return tmp_path / "rows.npy"


# A leaf at a time, with numbers of rows on disk; and all of them.
@pytest.mark.parametrize("memory", [2**20, 2**24])
def test_rows_of_a_file_have_the_same_seeds(file, memory):
    data = open_data(file, memory=memory)
    assert data.in_memory == (memory > 2**20)
    found = seeds(FileRows(data, WEIGHTS))
    expected = seeds(MemoryRows(X, WEIGHTS))
    np.testing.assert_array_equal(found.means, expected.means)
    assert found.evaluations == expected.evaluations


@pytest.mark.parametrize(
    "method", [kmeans_parallel, seeding.greedy_kmeans_plus_plus, seeding.afk_mc2]
)
def test_the_number_of_threads_changes_no_bit(method):
    before, found = native.get_num_threads(), []
    try:
        for n_threads in (1, 2, 5):
            native.set_num_threads(n_threads)
            rng = np.random.default_rng(1)
            found.append(method(MemoryRows(X, WEIGHTS), 60, native, rng).means)
    finally:
        native.set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_seeds_are_about_as_good_as_greedy_ones():
    rows = MemoryRows(X[:5000])

    def mean_loss(method):
        rngs = map(np.random.default_rng, range(12))
        return np.mean([loss(method(rows, 60, native, rng).means) for rng in rngs])

    found = mean_loss(kmeans_parallel)
    assert found < 1.03 * mean_loss(seeding.greedy_kmeans_plus_plus)
    assert found < mean_loss(seeding.kmeans_plus_plus)


def test_about_four_sweeps_of_distances():
    evaluations = seeds(MemoryRows(X)).evaluations
    assert 3.5 * 60 * len(X) < evaluations < 4.5 * 60 * len(X)


def test_a_few_rows_far_away_do_not_take_all_draws():
    far = X[:300].copy()
    far[:3] = [[1e9], [-1e13], [1e17]]
    means = seeds(MemoryRows(far), C=70).means
    assert len({tuple(m) for m in means}) == 70


@pytest.mark.parametrize("value", [0.0, 3.5])
def test_rows_that_are_all_the_same(value):
    means = seeds(MemoryRows(np.full((50, 2), value)), C=3).means
    np.testing.assert_array_equal(means, np.full((3, 2), value))


def test_as_many_clusters_as_rows():
    means = seeds(MemoryRows(X[:40]), C=40).means
    assert {tuple(m) for m in means} == {tuple(y) for y in X[:40].astype(float)}


def test_rows_are_drawn_by_mass():
    values = np.arange(5.0)[:, None]
    rows = MemoryRows(values, np.array([1.0, 2.0, 0.0, 1.0, 1.0]))
    per_weight = np.array([1.0, 1.0, 9.0, 0.0, 5.0])
    rng = np.random.default_rng(0)
    keyed = KeyedRows(rows, native, rng)
    counts = np.zeros(5)
    for _ in range(600):
        drawn = keyed.draw(rng.random(1), lambda held: held, per_weight)
        counts[int(drawn[0, 0])] += 1
    np.testing.assert_allclose(counts / 600, [1 / 8, 2 / 8, 0, 0, 5 / 8], atol=0.06)


def test_draws_are_different_rows_in_order_of_their_values():
    keyed = KeyedRows(MemoryRows(X), native, np.random.default_rng(0))
    points = np.random.default_rng(1).random(500)
    found = keyed.draw(points, lambda held: held, keyed.from_middle)
    np.testing.assert_array_equal(found, np.unique(found, axis=0))
    assert 450 < len(found) <= 500
    assert {tuple(y) for y in found} <= {tuple(y) for y in X.astype(float)}
    nothing = np.zeros(len(X))
    assert len(keyed.draw(points, lambda held: held, nothing)) == 0


def test_it_pays_for_many_rows_and_clusters():
    assert pays(145_751, 74, 200) and pays(200_000, 64, 1000)
    assert not pays(1797, 64, 10) and not pays(100_000, 2, 100)
    # However large: most rows would be candidates.
    assert not pays(100_000, 64, 20_000) and pays(160_000, 64, 20_000)
    work = parallel_seeding.LEAST_WORK // 32
    assert pays(work // 16, 16, 16) and not pays(work // 16 - 1, 16, 16)


# Of so many clusters that rows look only at candidates near their own.
def test_seeds_of_many_clusters_are_those_of_the_reference():
    rng = np.random.default_rng(5)
    means = np.repeat(20.0 * rng.normal(size=(40, 8)), 15, axis=0)
    means += rng.normal(size=means.shape)
    means[3] *= 1e5
    rows = MemoryRows(
        means[rng.integers(600, size=12_000)] + rng.normal(size=(12_000, 8))
    )
    known, more = means[:300], means[300:]
    distances = reference.distances(rows.X, known)
    before = distances.min(axis=1), distances.argmin(axis=1)
    found = native.nearer(rows.X, more, known, *before)
    expected = reference.nearer(rows.X, more, known, *before)
    assert np.array_equal(found, expected)
    seeds = [
        kmeans_parallel(rows, 600, kernel, np.random.default_rng(0)).means
        for kernel in (native, reference)
    ]
    assert np.array_equal(*seeds)
