"""Clusters that are nothing but centres, on rows worked out by hand."""

import numpy as np
import pytest

from cprime.kernels.fuzzy import FuzzyKernel
from cprime.kernels.memberships import Bezdek, Quadratic
from cprime.models import Distortion
from cprime.problem import Problem
from cprime.relocation import refill
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.theta import Theta


def problem_of(kernel, rule, X, C_prime, weights=None):
    rows = MemoryRows(np.asarray(X, dtype=float), weights)
    return Problem(rows, Distortion(), Exact(), FuzzyKernel(kernel, rule), C_prime)


def test_one_step_by_hand(kernel):
    # Squared distances 1 and 4 of the first row, 9 and 0 of the second.
    problem = problem_of(kernel, Bezdek(2.0), [[0.0], [2.0]], 2, np.array([3.0, 1.0]))
    theta = Theta(np.array([[-1.0], [2.0]]), 1.0)
    _, stats = problem.sweep(theta, None)
    u = np.array([0.8, 0.2])
    J = 3.0 * (u[0] ** 2 * 1.0 + u[1] ** 2 * 4.0)
    F = problem.model.free_energy(theta, stats, about=theta)
    assert pytest.approx(-J / 4.0) == F
    after = problem.model.maximize(stats, about=theta)
    share = 3.0 * u[1] ** 2
    np.testing.assert_allclose(after.means, [[0.0], [2.0 / (share + 1.0)]], atol=1e-15)
    assert problem.model.free_energy(after, stats, about=theta) > F


def test_a_regularisation_is_part_of_what_rows_pay(kernel):
    problem = problem_of(kernel, Quadratic(2.0), [[0.0]], 2)
    theta = Theta(np.array([[-1.0], [1.0]]), 1.0)
    _, stats = problem.sweep(theta, None)
    # Half and half: 1 for distances, and 2 (1/2 - 1) for not being certain.
    F = problem.model.free_energy(theta, stats, about=theta)
    assert pytest.approx(-(1.0 - 1.0)) == F


@pytest.mark.parametrize("rule", [Bezdek(1.5), Quadratic(0.3)], ids=str)
def test_an_empty_cluster_goes_to_the_worst_served_row(kernel, rule):
    X = [[0.0], [1.0], [0.2], [0.9], [7.0], [0.5]]
    problem = problem_of(kernel, rule, X, 2)
    theta = Theta(np.array([[0.0], [1.0], [1e3]]), 1.0)
    K, stats = problem.sweep(theta, None)
    before = problem.model.maximize(stats, theta)
    _, moments, about, moved = refill(problem, K, stats, theta)
    assert moved == [2]
    after = problem.model.maximize(moments, about)
    assert after.means[2, 0] == 7.0
    paid = problem.model.free_energy(before, stats, theta)
    assert problem.model.free_energy(after, moments, about) > paid
    # And what the next sweep finds is no worse: nothing was left off the bill.
    _, found = problem.sweep(after, None)
    next_paid = problem.model.free_energy(after, found, after)
    assert next_paid >= problem.model.free_energy(after, moments, about) - 1e-12


def test_it_has_centres_and_no_variance_to_choose():
    model = Distortion(3.0)
    assert model.unit_theta(np.zeros((2, 5))).covariance == 3.0
    assert model.n_parameters(2, 5) == 10
    assert model.floored(model.unit_theta(np.zeros((2, 5)))) == []
