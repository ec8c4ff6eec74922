"""Truncated EM of every Gaussian mixture raises F, which bounds L (Supplement C)."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mixtures import log_joints, mixtures
from problems import generator
from scipy.special import logsumexp

from cprime.rows import MemoryRows
from cprime.search import Lazy


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


@given(mixture=mixtures(spare=2), eps=st.sampled_from([0.0, 0.1, 1.0]))
def test_reluctant_rows_raise_it_too(mixture, eps):
    problem = replace(mixture.problem(C_prime=1), search=Lazy(eps))
    theta, K, values = mixture.theta, None, []
    for _ in range(6):
        K, stats = problem.sweep(theta, K)
        values.append(free_energy(mixture, theta, K.K))
        theta = problem.model.maximize(stats, theta)
        values.append(free_energy(mixture, theta, K.K))
    for before, after in pairwise(values):
        assert after >= before - 1e-9 * (1 + abs(before))


@given(mixture=mixtures(spare=2), data=st.data())
def test_weights_are_repetitions(mixture, data):
    case, theta = mixture.case, mixture.theta
    times = generator(data.draw).integers(0, 4, size=case.rows.n_rows)
    times[0] += 1
    problem = mixture.problem()
    weighted = MemoryRows(case.rows.X, times.astype(float))
    repeated = MemoryRows(np.repeat(case.rows.X, times, axis=0))
    for _ in range(3):
        one = replace(problem, rows=weighted).sweep(theta, None)[1]
        other = replace(problem, rows=repeated).sweep(theta, None)[1]
        first = problem.model.maximize(one, theta)
        second = problem.model.maximize(other, theta)
        size = np.abs(case.X).max() + np.abs(theta.means).max()
        assert np.allclose(first.means, second.means, rtol=0, atol=1e-8 * size)
        assert np.isclose(one.free_energy, other.free_energy, rtol=1e-9, atol=1e-9)
        assert one.weight == other.weight
        theta = first
