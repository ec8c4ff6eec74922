"""Truncated EM of every Gaussian mixture raises F, which bounds L (Supplement C)."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from mixtures import log_joints, mixtures
from scipy.special import logsumexp


def free_energy(mixture, theta, K):
    """Return F(K, theta) from the definition: the mean over weighted rows."""
    joints = log_joints(mixture.case.X, theta)
    kept = np.take_along_axis(joints, K, axis=1) if K.shape[1] > 0 else joints
    weights = mixture.case.weights
    return np.sum(weights * logsumexp(kept, axis=1)) / weights.sum()


@given(mixture=mixtures())
def test_a_sweep_knows_its_free_energy(mixture):
    K, stats = mixture.problem().sweep(mixture.theta, None)
    expected = free_energy(mixture, mixture.theta, K.K)
    assert np.isclose(stats.free_energy / stats.weight, expected, rtol=1e-9, atol=1e-9)
    again = mixture.model.free_energy(mixture.theta, stats, mixture.theta)
    assert np.isclose(again, expected, rtol=1e-9, atol=1e-9)


@given(mixture=mixtures())
def test_rows_keep_the_most_likely_clusters(mixture):
    K, _ = mixture.problem().sweep(mixture.theta, None)
    if K.K.shape[1] == 0:
        return
    joints = log_joints(mixture.case.X, mixture.theta)
    lowest_kept = np.take_along_axis(joints, K.K, axis=1).min(axis=1)
    np.put_along_axis(joints, K.K, -np.inf, axis=1)
    room = 1e-9 * (1 + np.abs(lowest_kept))
    assert np.all(joints.max(axis=1) <= lowest_kept + room)


@given(mixture=mixtures(spare=2))
def test_neither_the_e_step_nor_the_m_step_lowers_it(mixture):
    problem, theta = mixture.problem(), mixture.theta
    values = []
    for _ in range(6):
        _, stats = problem.sweep(theta, None)
        values.append(stats.free_energy / stats.weight)
        after = problem.model.maximize(stats, theta)
        values.append(problem.model.free_energy(after, stats, theta))
        theta = after
    for before, after in pairwise(values):
        assert after >= before - 1e-9 * (1 + abs(before))


@given(mixture=mixtures())
def test_it_rises_with_the_clusters_kept_up_to_the_likelihood(mixture):
    values = []
    for C_prime in range(1, mixture.case.C + 1):
        _, stats = mixture.problem(C_prime).sweep(mixture.theta, None)
        values.append(stats.free_energy / stats.weight)
    L = np.sum(
        mixture.case.weights
        * logsumexp(log_joints(mixture.case.X, mixture.theta), axis=1)
    ) / np.sum(mixture.case.weights)
    for fewer, more in pairwise([*values, L]):
        assert more >= fewer - 1e-9 * (1 + abs(fewer))
    assert np.isclose(values[-1], L, rtol=1e-9, atol=1e-9)
