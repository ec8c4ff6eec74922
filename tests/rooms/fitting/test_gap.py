"""The gap of a fit takes one pass, and is that of the clusters its F is of."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cprime import KMeans, SoftKMeans, bounds, open_data
from cprime.fitting import gap
from cprime.kernels import native
from cprime.models import Isotropic
from cprime.rows import MemoryRows
from cprime.theta import Theta

X = np.random.default_rng(0).normal(size=(400, 5))


@pytest.mark.parametrize("C_prime", [1, 2, 5])
def test_a_fit_does_not_search_again_for_the_clusters_its_rows_keep(
    monkeypatch, C_prime
):
    def searched(*args):
        raise AssertionError("The last sweep has found them.")

    monkeypatch.setattr(native, "posterior", searched)
    kmeans = KMeans(9, init=X[:9], c_prime=C_prime, max_iter=3).fit(X)
    monkeypatch.undo()
    assert kmeans.gap_ == kmeans.gap(X)
    assert kmeans.log_likelihood_ == kmeans.free_energy_ + kmeans.gap_


def test_rows_that_keep_all_clusters_lose_nothing():
    assert SoftKMeans(4, init=X[:4], max_iter=3).fit(X).gap_ == 0.0


# From clusters far apart, of which few count, to such that all of them do.
@pytest.mark.parametrize("variance", [1e-3, 0.3, 1.0, 3.0, 30.0, 1e6])
@pytest.mark.parametrize("D", [3, 40])
def test_neither_other_rows_nor_the_vector_unit_change_a_bit(D, variance):
    rng = np.random.default_rng(1)
    means = rng.normal(size=(130, D))
    rows = means[rng.integers(130, size=300)] + 0.3 * rng.normal(size=(300, D))
    # Some rows so far out that float32 cannot tell clusters apart.
    rows[::50] *= 1e9
    coefficients = Isotropic().coefficients(Theta(means, variance))
    K = native.posterior(rows, coefficients, 2).K
    together = native.gaps(rows, K, coefficients)
    alone = [
        native.gaps(rows[i : i + 1], K[i : i + 1], coefficients)[0]
        for i in range(len(rows))
    ]
    assert np.array_equal(together, alone)
    best = native.isa_name()
    try:
        for path in native.isa_names():
            native.use_isa(path)
            assert np.array_equal(native.gaps(rows, K, coefficients), together), path
    finally:
        native.use_isa(best)
    expected = bounds.gap_per_row(rows, coefficients, K=K)
    assert np.allclose(together, expected, rtol=1e-12, atol=0.0)


def test_a_cluster_nobody_may_choose_adds_nothing():
    rng = np.random.default_rng(2)
    rows, means = rng.normal(size=(50, 20)), rng.normal(size=(30, 20))
    coefficients = Isotropic().coefficients(Theta(means, 1.0))
    bias = coefficients.bias.copy()
    bias[7] = -np.inf
    K = native.posterior(rows, coefficients, 1).K
    K[K == 7] = 8
    without = np.delete(np.arange(30), 7)
    fewer = replace(coefficients, means=means[without], bias=coefficients.bias[without])
    found = native.gaps(rows, K, replace(coefficients, bias=bias))
    expected = native.gaps(rows, K - (K > 7), fewer)
    assert np.allclose(found, expected, rtol=1e-12, atol=0.0)


@pytest.fixture
def sampled(monkeypatch):
    """Let the gap of few rows be that of a sample, as that of many is."""
    monkeypatch.setattr(gap, "MANY_ROWS", 1_000)
    monkeypatch.setattr(gap, "MANY_DISTANCES", 1_000)
    monkeypatch.setattr(gap, "SAMPLED_ROWS", 500)


@pytest.mark.parametrize("C_prime", [1, 2])
def test_the_gap_of_many_rows_is_within_some_standard_errors(sampled, C_prime):
    rng = np.random.default_rng(3)
    deviations = []
    for seed in range(40):
        rows = rng.normal(size=(5_000, 3))
        # The gap differs from row to row, and rows are in its order.
        rows = rows[np.argsort(rows[:, 0])]
        kmeans = KMeans(
            6, init=rows[seed :: 5_000 // 6][:6], c_prime=C_prime, max_iter=2
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            kmeans.fit(rows)
        error = kmeans.gap_standard_error_
        per_row = kmeans.gap(rows, per="row")
        assert error == pytest.approx(per_row.std() / np.sqrt(500), rel=0.2)
        assert kmeans.log_likelihood_ == kmeans.free_energy_ + kmeans.gap_
        deviations.append((kmeans.gap_ - kmeans.gap(rows)) / error)
    assert np.abs(deviations).max() < 4.0
    # Rows are spread evenly: the error is at most that of an independent sample.
    assert np.std(deviations) < 1.3
    assert abs(np.mean(deviations)) < 4.0 / np.sqrt(40)


def test_few_rows_are_all_looked_at(sampled):
    kmeans = KMeans(9, init=X[:9], max_iter=3).fit(X)
    assert kmeans.gap_standard_error_ == 0.0
    assert kmeans.gap_ == kmeans.gap(X)


def test_draws_are_a_few_of_very_many_rows():
    assert not gap.is_sampled(131_071, 1_000)
    assert not gap.is_sampled(131_072, 127)
    assert gap.is_sampled(131_072, 128)


def test_rows_are_drawn_as_often_as_they_weigh():
    weights = np.random.default_rng(4).exponential(size=3_000)
    weights[::7] = 0.0
    # One row is as heavy as all the others together.
    weights[1_234] = 0.0
    weights[1_234] = weights.sum()
    rows = MemoryRows(np.zeros((3_000, 1)), weights)
    places, times = gap.evenly_spread(rows, 1_000)
    assert weights[places].min() > 0.0
    assert abs(times.sum() - 1_000) <= 1
    assert abs(times[places == 1_234][0] - 500) <= 1
    # No stretch of rows is drawn more often than it weighs, but for its two ends.
    drawn = np.zeros(3_000)
    drawn[places] = times
    expected = weights / weights.sum() * 1_000
    assert np.abs(np.cumsum(drawn - expected)).max() <= 1.0 + 1e-6


def test_copies_in_a_row_are_drawn_like_weights(sampled):
    rng = np.random.default_rng(5)
    rows, times = rng.normal(size=(2_000, 2)), rng.integers(4, size=2_000)
    once = KMeans(5, init=rows[:5], max_iter=100).fit(rows, sample_weight=times)
    copies = KMeans(5, init=rows[:5], max_iter=100).fit(np.repeat(rows, times, axis=0))
    assert once.gap_standard_error_ > 0.0
    assert once.gap_ == pytest.approx(copies.gap_, rel=1e-9)
    assert once.gap_standard_error_ == pytest.approx(copies.gap_standard_error_)


def test_rows_of_a_file_give_the_same_sample(sampled, tmp_path):
    rows = np.random.default_rng(6).normal(size=(60_000, 4))
    np.save(tmp_path / "rows.npy", rows)
    data = open_data(tmp_path / "rows.npy", memory=2**20)
    of_file, of_memory = (KMeans(5, init=rows[:5]).fit(of) for of in (data, rows))
    assert of_file.gap_standard_error_ > 0.0
    assert of_file.gap_ == of_memory.gap_
    assert of_file.gap_standard_error_ == of_memory.gap_standard_error_
