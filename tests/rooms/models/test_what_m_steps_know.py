"""What an M-step has found spares work where it holds, and changes no number."""

import numpy as np
import pytest

from cprime.kernels import native
from cprime.models import Diagonal, Full, Isotropic, Spherical, Tied
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.theta import Theta

X = np.random.default_rng(4).normal(size=(300, 3)) @ np.diag([1.0, 3.0, 0.2])


def swept(model, theta, rows=X):
    problem = Problem(MemoryRows(rows), model, Exact(), native, C_prime=4)
    return problem.sweep(theta, None)[1]


@pytest.mark.parametrize("kind", [Isotropic, Spherical, Diagonal, Tied, Full])
@pytest.mark.parametrize("floor", [1e-9, 0.5])
def test_free_energy_is_that_of_parameters_without_a_past(kind, floor):
    model = kind(floor=floor)
    hard = Problem(MemoryRows(X), model, Exact(), native, C_prime=1)
    about = model.start(X[:4], hard.sweep(model.unit_theta(X[:4]), None)[1])
    stats = swept(model, about)
    theta = model.maximize(stats, about)
    fresh = Theta(**theta.parameters())
    assert model.free_energy(theta, stats, about) == model.free_energy(
        fresh, stats, about
    )
    # Other sums, about the same means.
    other = swept(model, about, X[:200])
    assert model.free_energy(theta, other, about) == model.free_energy(
        fresh, other, about
    )
    assert model.floored(theta) == model.floored(fresh)


@pytest.mark.parametrize("kind", [Isotropic, Tied, Full])
def test_parameters_do_not_keep_those_before_them(kind):
    model = kind(floor=1e-9)
    hard = Problem(MemoryRows(X), model, Exact(), native, C_prime=1)
    about = model.start(X[:4], hard.sweep(model.unit_theta(X[:4]), None)[1])
    theta = model.maximize(swept(model, about), about)
    held = [value for known in vars(theta).values() for value in _flat(known)]
    assert not any(isinstance(value, Theta) for value in held)


def _flat(known):
    return known if isinstance(known, tuple) else (known,)
