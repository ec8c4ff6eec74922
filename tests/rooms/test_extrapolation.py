"""A leap lands where M-steps lead, and is not taken where F would fall."""

import numpy as np
import pytest

from cprime.extrapolation import LEAST_GAIN, LONGEST, MOST_GAIN, Path, leap, swept
from cprime.kernels import get_kernel
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.theta import Theta

X = np.random.default_rng(0).standard_normal((200, 2))
LIMIT = np.array([[1.0, 2.0], [3.0, -1.0]])
ERROR = np.array([[0.5, -0.25], [0.125, 1.0]])


def on_the_way(rate, variances=(1.0, 1.0, 1.0)):
    """Return three Thetas, each closer to the limit by the same rate."""
    return [Theta(LIMIT + rate**t * ERROR, v) for t, v in enumerate(variances)]


@pytest.mark.parametrize("rate", [0.25, 0.5, 0.9])
def test_it_lands_on_the_limit_of_a_linear_sequence(rate):
    found = leap(*on_the_way(rate))
    np.testing.assert_allclose(found.means, LIMIT, atol=1e-13)
    assert found.covariance == 1.0


def test_it_is_no_longer_than_allowed():
    found = leap(*on_the_way(0.999))
    left = (1.0 - 0.001 * LONGEST) ** 2
    np.testing.assert_allclose(found.means - LIMIT, left * ERROR, atol=1e-12)


def test_the_variance_goes_on_by_factors():
    found = leap(*(Theta(LIMIT, v) for v in (4.0, 2.0, 2.0**0.5)))
    assert found.covariance == pytest.approx(1.0)


def test_there_is_none_where_steps_do_not_become_smaller():
    assert leap(*on_the_way(-0.5)) is None
    assert leap(*on_the_way(0.0)) is None
    assert leap(*(Theta(LIMIT, v) for v in (1e4, 1e2, 1e1))) is None


def test_it_follows_every_second_m_step_that_gains_something():
    first, second, third = on_the_way(0.5)
    path = Path().after(first, second, 0.5 * MOST_GAIN)
    assert path.origin is first and path.ahead is None
    path = path.after(second, third, LEAST_GAIN)
    np.testing.assert_allclose(path.ahead.means, LIMIT)
    assert path.origin is None
    for gain in (0.5 * LEAST_GAIN, 2.0 * MOST_GAIN, np.inf):
        assert Path(origin=first).after(second, third, gain) == Path()


def test_units_that_are_powers_of_two_change_no_bit():
    scale = 2.0**-301
    thetas = on_the_way(0.7, (1.1, 1.05, 1.03))
    scaled = [Theta(scale * t.means, scale * scale * t.covariance) for t in thetas]
    here, there = leap(*thetas), leap(*scaled)
    assert (scale * here.means).tolist() == there.means.tolist()
    assert scale * scale * here.covariance == there.covariance


def test_a_leap_that_lowers_f_is_taken_back():
    problem = Problem(MemoryRows(X), Isotropic(), Exact(), get_kernel("auto"), 2)
    theta, far = Theta(X[:4], 1.0), Theta(X[:4] + 10.0, 1.0)
    K, stats = problem.sweep(theta, None)
    F = stats.free_energy / stats.weight
    where, _, found, spent = swept(problem, theta, K, Path(ahead=far), F)
    assert where is theta and found.free_energy == stats.free_energy and spent > 0
    where, _, found, spent = swept(problem, far, K, Path(ahead=theta), F - 1.0)
    assert where.means is theta.means
    assert found.free_energy == stats.free_energy and spent == 0


def test_a_leap_does_not_go_below_the_floor_of_variances():
    # F would be higher there, and fall with the next M-step.
    model = Isotropic(floor=1.0)
    problem = Problem(MemoryRows(X), model, Exact(), get_kernel("auto"), 2)
    theta = Theta(X[:4], 1.0)
    K, _ = problem.sweep(theta, None)
    ahead = Path(ahead=Theta(X[:4], 0.5))
    where, _, _, _ = swept(problem, theta, K, ahead, -np.inf)
    assert where.covariance == 1.0


@pytest.mark.parametrize("shape", [(2,), (2, 2)])
def test_variances_and_proportions_of_every_cluster_go_along(shape):
    def at(t):
        covariance = np.exp(0.5**t * np.linspace(-0.5, 0.5, 2)).reshape(2, 1)
        covariance = np.broadcast_to(covariance, (2, 2))[:, : len(shape)].reshape(shape)
        proportions = np.array([0.5 + 0.1 * 0.5**t, 0.5 - 0.1 * 0.5**t])
        return Theta(LIMIT + 0.5**t * ERROR, covariance, proportions)

    found = leap(at(0), at(1), at(2))
    assert found.covariance.shape == shape
    np.testing.assert_allclose(found.covariance, 1.0, rtol=0.05)
    np.testing.assert_allclose(found.proportions, 0.5, rtol=0.02)
    assert found.proportions.sum() == pytest.approx(1.0)


def test_a_cluster_that_has_died_does_not_come_back():
    def at(t):
        return Theta(LIMIT + 0.5**t * ERROR, 1.0, np.array([1.0, 0.0]))

    assert leap(at(0), at(1), at(2)).proportions.tolist() == [1.0, 0.0]
