"""Rows look only at clusters near those they had, and find what all of them would."""

from dataclasses import fields

import numpy as np
import pytest

from cprime.kernels import native, reference
from cprime.models import Isotropic
from cprime.rows import MemoryRows
from cprime.search import Exact, Lazy
from cprime.stats import Stats
from cprime.theta import Theta

# Enough clusters, and rows of each, to look at which are near which.
C, D, N = 600, 12, 10_000
STEPS = (0.0, 0.5, 0.1, 0.01, 0.01, 0.1)


def grouped_means(rng):
    """Return clusters in groups, with copies of some and two that are far away."""
    means = np.repeat(20.0 * rng.normal(size=(40, D)), C // 40, axis=0)
    means += rng.normal(size=means.shape)
    means[50:60] = means[40:50]
    means[[7, 300]] *= 1e4
    return means


def rows_of(rng, means):
    X = means[rng.integers(C, size=N)] + 0.7 * rng.normal(size=(N, D))
    # Rows as close to one cluster as to another, and rows beyond float32.
    X[:40] = 0.5 * (means[:40] + means[1:41])
    X[100:104] *= 1e20
    return X


def sums(stats):
    """Return every number that does not depend on the sweep before."""
    names = {f.name for f in fields(Stats)} - {"evaluations", "changed"}
    return {name: np.asarray(getattr(stats, name)).tobytes() for name in names}


@pytest.fixture(params=native.isa_names())
def vector_unit(request):
    best = native.isa_name()
    native.use_isa(request.param)
    yield request.param
    native.use_isa(best)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("C_prime", [1, 3])
def test_clusters_and_sums_are_those_of_a_search_among_all(vector_unit, C_prime, dtype):
    rng = np.random.default_rng(0)
    means = grouped_means(rng)
    rows, plan = MemoryRows(rows_of(rng, means).astype(dtype)), Exact().plan()
    kept, work = None, []
    for step in STEPS:
        means = means + step * rng.normal(size=means.shape)
        coefficients = Isotropic().coefficients(Theta(means, 1.0))
        kept, stats = rows.sweep(native, kept, coefficients, plan, C_prime)
        _, among_all = rows.sweep(native, None, coefficients, plan, C_prime)
        expected = reference.posterior(rows.X, coefficients, C_prime).K
        assert np.array_equal(kept.K, expected)
        assert sums(stats) == sums(among_all)
        work.append(stats.evaluations / (N * C))
    assert work[0] == 1.0
    assert max(work[1:]) < 0.3


def test_a_reluctant_row_keeps_what_the_reference_does():
    rng = np.random.default_rng(1)
    means = grouped_means(rng)
    rows, plan = MemoryRows(rows_of(rng, means)), Lazy(0.1).plan()
    kept = None
    for step in STEPS:
        means = means + step * rng.normal(size=means.shape)
        coefficients = Isotropic().coefficients(Theta(means, 1.0))
        expected, _ = rows.sweep(reference, kept, coefficients, plan, 1)
        kept, _ = rows.sweep(native, kept, coefficients, plan, 1)
        assert np.array_equal(kept.K, expected.K)


def test_clusters_of_one_heap_are_all_looked_at():
    rng = np.random.default_rng(2)
    means = rng.normal(size=(C, D))
    rows = MemoryRows(means[rng.integers(C, size=N)] + rng.normal(size=(N, D)))
    kept = None
    for _ in range(2):
        coefficients = Isotropic().coefficients(Theta(means, 1.0))
        kept, stats = rows.sweep(native, kept, coefficients, Exact().plan(), 1)
        assert np.array_equal(kept.K[:, 0], reference.nearest(rows.X, coefficients))
        means = means + 0.5 * rng.normal(size=means.shape)
    # Little is lost by trying.
    assert 0.9 < stats.evaluations / (N * C) < 1.01
