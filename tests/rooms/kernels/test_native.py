"""The compiled kernel remembers what pays, and checks numbers without numpy."""

import math

import numpy as np
import pytest

from cprime import em
from cprime.kernels import native
from cprime.kernels.native import magnitude
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.theta import Theta


def work_of_sweeps(steps):
    """Return the evaluations of sweeps under means that move by such steps."""
    rng = np.random.default_rng(0)
    means, kept, work = rng.uniform(-50.0, 50.0, (200, 40)), None, []
    rows = MemoryRows(means[rng.integers(200, size=3000)])
    for step in steps:
        means = means + step * rng.standard_normal(means.shape)
        coefficients = Isotropic().coefficients(Theta(means, 1.0))
        kept, stats = rows.sweep(native, kept, coefficients, Exact().plan(), 1)
        work.append(stats.evaluations / rows.n_rows)
    return work


def test_nothing_is_remembered_until_rows_settle():
    assert work_of_sweeps([0.0, 300.0, 300.0, 300.0]) == [200] * 4


def test_rows_that_have_settled_look_at_few_clusters():
    work = work_of_sweeps([0.0, 0.01, 0.01, 0.01, 0.01])
    # One sweep to see that they have, one to take bounds.
    assert work[:3] == [200] * 3
    assert max(work[3:]) < 20


def test_the_last_sweep_of_a_fit_lets_bounds_go():
    rng = np.random.default_rng(0)
    means, kept = rng.uniform(-50.0, 50.0, (200, 40)), None
    rows = MemoryRows(means[rng.integers(200, size=3000)])
    problem = Problem(rows, Isotropic(), Exact(), native, 1)
    for _ in range(3):
        kept, _ = problem.sweep(Theta(means, 1.0), kept)
    assert kept.hints.store is not None
    assert em.finish(problem, Theta(means, 1.0), kept).K.hints is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("place", [0, 1, 300_000, 699_999])
def test_magnitudes_are_those_of_numpy(dtype, place):
    values = np.random.default_rng(0).standard_normal(700_000).astype(dtype)
    assert magnitude(values) == np.abs(values).max()
    for extreme in (-1e30, np.inf, -np.inf, 5e-324):
        values[place] = extreme
        assert magnitude(values) == np.abs(values).max()
    values[place] = -np.nan
    assert math.isnan(magnitude(values))
    values[(place + 400_000) % len(values)] = np.inf
    assert math.isnan(magnitude(values))


def test_magnitudes_of_little_or_odd_arrays():
    assert magnitude(np.empty((0, 3))) == 0.0
    assert magnitude(np.zeros(5, dtype=np.float32)) == 0.0
    X = np.arange(-30.0, 30.0).reshape(6, 10)
    assert magnitude(X.T) == magnitude(X[::-1, ::3]) == 30.0
    assert magnitude(X.astype(">f4")) == 30.0
