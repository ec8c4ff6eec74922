"""The isotropic model, on two points worked out by hand."""

import math

import numpy as np
import pytest

from cprime.models import Isotropic
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.theta import Theta


@pytest.fixture
def stats_of(kernel):
    def swept(X, theta, C_prime, weights=None):
        coefficients = Isotropic().coefficients(theta)
        rows = MemoryRows(np.asarray(X, dtype=float), weights)
        return rows.sweep(kernel, None, coefficients, Exact().plan(), C_prime)[1]

    return swept


def test_log_joint_is_the_gaussian_density_over_C(kernel):
    theta = Theta(np.array([[0.0, 0.0], [3.0, 4.0]]), 2.0)
    found = kernel.posterior(np.zeros((1, 2)), Isotropic().coefficients(theta), 2)
    at_centre = math.log(0.5) - math.log(2 * math.pi * 2.0)
    log_joint = found.highest + found.relative
    np.testing.assert_allclose(log_joint, [[at_centre, at_centre - 25.0 / 4.0]])


def test_one_m_step_by_hand(stats_of):
    theta = Theta(np.array([[0.0], [10.0]]), 1.0)
    stats = stats_of(
        [[1.0], [3.0], [10.0]], theta, 1, weights=np.array([1.0, 1.0, 2.0])
    )
    new = Isotropic().maximize(stats, about=theta)
    np.testing.assert_array_equal(new.means, [[2.0], [10.0]])
    assert new.covariance == pytest.approx(2.0 / 4.0)


def test_an_empty_cluster_keeps_its_mean(stats_of):
    theta = Theta(np.array([[0.0], [99.0]]), 1.0)
    stats = stats_of([[1.0], [3.0]], theta, 1)
    new = Isotropic().maximize(stats, about=theta)
    np.testing.assert_array_equal(new.means, [[2.0], [99.0]])


def test_the_variance_is_clipped_not_ridged(stats_of):
    theta = Theta(np.array([[0.0]]), 1.0)
    spread, equal = stats_of([[-1.0], [1.0]], theta, 1), stats_of([[0.0]], theta, 1)
    floored = Isotropic(floor=0.25)
    assert floored.maximize(spread, about=theta).covariance == 1.0
    assert floored.maximize(equal, about=theta).covariance == 0.25


def test_a_mean_from_far_away_does_not_make_up_a_variance(stats_of):
    # About a mean 1e9 away the scatter is all rounding error: one step cannot know it.
    theta = Theta(np.array([[1e9]]), 1.0)
    X = [[-1.0], [1.0]]
    first = Isotropic().maximize(stats_of(X, theta, 1), about=theta)
    second = Isotropic().maximize(stats_of(X, first, 1), about=first)
    assert first.covariance > 1e6
    assert second.covariance == pytest.approx(1.0)


def test_free_energy_holds_for_any_theta_from_one_sweep(kernel, stats_of):
    rng = np.random.default_rng(0)
    X, here = rng.normal(size=(50, 3)), Theta(rng.normal(size=(4, 3)), 0.7)
    model, stats = Isotropic(), stats_of(X, here, 2)
    assert model.free_energy(here, stats, about=here) == pytest.approx(
        stats.free_energy / 50, rel=1e-13
    )
    there = Theta(rng.normal(size=(4, 3)), 1.9)
    coefficients = model.coefficients(here)
    posterior = kernel.posterior(X, coefficients, 2)
    q, entropies, _ = posterior.normalise()
    distances = np.take_along_axis(
        kernel.distances(X, there.means), posterior.K, axis=1
    )
    highest, relative = model.coefficients(there).log_joint(distances, posterior.K)
    expected = np.mean((q * (highest + relative)).sum(axis=1) + entropies)
    assert model.free_energy(there, stats, about=here) == pytest.approx(
        expected, rel=1e-12
    )


def test_parameters_are_counted():
    assert Isotropic().n_parameters(5, 3) == 16
    assert Isotropic(variance=1.0).n_parameters(5, 3) == 15
