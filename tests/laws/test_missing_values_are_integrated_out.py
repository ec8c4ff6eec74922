"""Statistics completed by expectations are EM for what is observed of every row."""

from dataclasses import fields
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from incomplete import MODELS, incompletes, log_joints, per_feature
from mixtures import mixtures
from scipy.special import logsumexp, softmax

from cprime.blocks import LEAF_ROWS, Block
from cprime.kernels import reference
from cprime.kernels.missing import Marginal
from cprime.models import Isotropic
from cprime.search import Plan
from cprime.summation import LeafSum
from cprime.theta import Theta

N_ITERATIONS = 5
names = pytest.mark.parametrize("name", MODELS)


def mean(values, weights):
    return np.sum(weights * values) / np.sum(weights)


@given(mixture=incompletes())
def test_a_sweep_knows_its_free_energy(mixture):
    K, stats = mixture.problem().sweep(mixture.theta, None)
    joints = log_joints(mixture.X, mixture.theta)
    if K.K.shape[1] > 0:
        joints = np.take_along_axis(joints, K.K, axis=1)
    expected = mean(logsumexp(joints, axis=1), mixture.weights)
    again = mixture.model.free_energy(mixture.theta, stats, mixture.theta)
    for found in (stats.free_energy / stats.weight, again):
        assert np.isclose(found, expected, rtol=1e-9, atol=1e-9)


@given(mixture=incompletes())
def test_rows_keep_the_clusters_most_likely_by_what_is_observed(mixture):
    K, _ = mixture.problem().sweep(mixture.theta, None)
    if K.K.shape[1] == 0:
        return
    joints = log_joints(mixture.X, mixture.theta)
    lowest_kept = np.take_along_axis(joints, K.K, axis=1).min(axis=1)
    np.put_along_axis(joints, K.K, -np.inf, axis=1)
    assert np.all(joints.max(axis=1) <= lowest_kept + 1e-9 * (1 + np.abs(lowest_kept)))


@given(mixture=incompletes())
def test_posteriors_and_gaps_are_those_of_what_is_observed(mixture):
    kernel, coefficients = Marginal(), mixture.model.coefficients(mixture.theta)
    joints = log_joints(mixture.X, mixture.theta)
    everything = kernel.posterior(mixture.X, coefficients, mixture.C)
    q = np.zeros(joints.shape)
    np.put_along_axis(q, everything.K, everything.responsibilities(), axis=1)
    np.testing.assert_allclose(q, softmax(joints, axis=1), rtol=1e-7, atol=1e-12)
    K = kernel.posterior(mixture.X, coefficients, mixture.C_prime).K
    lost = kernel.gaps(mixture.X, K, coefficients)
    kept = logsumexp(np.take_along_axis(joints, K, axis=1), axis=1)
    expected = logsumexp(joints, axis=1) - kept
    np.testing.assert_allclose(lost, expected, rtol=1e-7, atol=1e-9)
    assert np.all(lost >= 0)
    assert kernel.nearest(mixture.X, coefficients).tolist() == K[:, 0].tolist()


@given(mixture=incompletes())
def test_free_energy_rises_with_the_clusters_kept_up_to_the_likelihood(mixture):
    L = logsumexp(log_joints(mixture.X, mixture.theta), axis=1)
    values = []
    for C_prime in range(1, mixture.C + 1):
        _, stats = mixture.problem(C_prime).sweep(mixture.theta, None)
        values.append(stats.free_energy / stats.weight)
    values.append(mean(L, mixture.weights))
    for fewer, more in pairwise(values):
        assert more >= fewer - 1e-9 * (1 + abs(fewer))
    assert np.isclose(values[-2], values[-1], rtol=1e-9, atol=1e-9)


@given(mixture=incompletes(spare=2))
def test_neither_the_e_step_nor_the_m_step_lowers_free_energy(mixture):
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


def em_step(X, weights, theta, name):
    """Return the next parameters by the textbook: E[y] and E[y^2] of every value.

    One row and one cluster at a time, moments about zero, nothing shared with cprime.
    """
    C, D = theta.means.shape
    sigma2 = per_feature(theta.covariance, C, D)
    q = softmax(log_joints(X, theta), axis=1)
    n, first, second = np.zeros(C), np.zeros((C, D)), np.zeros((C, D))
    for y, w, q_row in zip(X, weights, q):
        for c in range(C):
            unknown = np.isnan(y)
            e1 = np.where(unknown, theta.means[c], y)
            e2 = np.where(unknown, theta.means[c] ** 2 + sigma2[c], y**2)
            n[c] += w * q_row[c]
            first[c] += w * q_row[c] * e1
            second[c] += w * q_row[c] * e2
    means = first / n[:, None]
    variances = second / n[:, None] - means**2
    covariance = {
        "diag": variances,
        "spherical": variances.mean(axis=1),
        "isotropic": float(np.sum(n[:, None] * variances) / (D * n.sum())),
    }[name]
    return Theta(means, covariance, n / n.sum())


@names
@given(data=st.data())
def test_iterates_are_those_of_em_by_the_textbook(name, data):
    drawn = incompletes([name], equal=False, gridded=False, spare=4, max_C=3)
    mixture = data.draw(drawn)
    assume(not np.isnan(mixture.X).all())
    # The textbook's moments about zero need rows near zero.
    X = (mixture.X - np.nanmean(mixture.X)) / (np.nanstd(mixture.X) or 1.0)
    means = np.random.default_rng(0).standard_normal(mixture.theta.means.shape)
    model = MODELS[name](equal=False)
    uniform = np.full(mixture.C, 1 / mixture.C)
    theirs = ours = Theta(means, model.unit_theta(means).covariance, uniform)
    block = Block(X, mixture.weights)
    for _ in range(N_ITERATIONS):
        theirs = em_step(X, mixture.weights, theirs, name)
        coefficients = model.coefficients(ours)
        _, sums = Marginal().sweep(block, None, coefficients, Plan(), mixture.C)
        ours = model.maximize(sums.total(), ours)
        if np.min(theirs.covariance) < 1e-3:
            # A cluster shrinks onto a value: no two ways to compute agree for long.
            return
        for field in fields(Theta):
            np.testing.assert_allclose(
                getattr(ours, field.name),
                getattr(theirs, field.name),
                rtol=1e-9,
                atol=1e-9,
            )


@given(mixture=mixtures(["spherical", "diag"]))
def test_complete_rows_are_swept_as_ever(mixture):
    assert_same_sweep(mixture.case, mixture.model, mixture.theta)


@given(mixture=mixtures(["diag"]))
def test_complete_rows_of_one_variance_are_swept_as_ever(mixture):
    theta = Theta(mixture.theta.means, float(np.mean(mixture.theta.covariance)))
    assert_same_sweep(mixture.case, Isotropic(), theta)


def assert_same_sweep(case, model, theta):
    coefficients, block = model.coefficients(theta), case.rows.block
    args = (block, None, coefficients, Plan(), case.C_prime)
    (K, sums), (K_usual, usual) = Marginal().sweep(*args), reference.sweep(*args)
    assert K.K.tolist() == K_usual.K.tolist()
    for field in fields(usual.total()):
        found, expected = (getattr(s.total(), field.name) for s in (sums, usual))
        assert np.shape(found) == np.shape(expected)
        scale = np.abs(case.X - case.means[0]).max() + 1.0
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * scale)


@names
def test_a_feature_no_row_of_a_cluster_has_keeps_its_parameters(name):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    X[30:, 0] += 50.0
    X[30:, 2] = np.nan
    means = np.array([[0.0, 0.0, 0.0], [50.0, 0.0, 7.0]])
    model = MODELS[name](equal=False)
    theta = model.start(means, swept(X, model, model.unit_theta(means), 1))
    for _ in range(30):
        before, theta = theta, model.maximize(swept(X, model, theta, 2), theta)
    assert np.isclose(theta.means[1, 2], 7.0)
    assert np.all(np.isfinite(theta.means)) and np.all(np.isfinite(theta.covariance))
    if name == "diag":
        assert np.isclose(theta.covariance[1, 2], before.covariance[1, 2])


def swept(X, model, theta, C_prime):
    block, coefficients = Block(X, np.ones(len(X))), model.coefficients(theta)
    return Marginal().sweep(block, None, coefficients, Plan(), C_prime)[1].total()


@names
def test_a_row_of_which_nothing_is_known_is_as_likely_as_its_cluster(name):
    model, proportions = MODELS[name](), np.array([0.1, 0.7, 0.2])
    means = np.random.default_rng(0).normal(size=(3, 4))
    theta = Theta(means, model.unit_theta(means).covariance, proportions)
    coefficients = model.coefficients(theta)
    kept = Marginal().posterior(np.full((1, 4), np.nan), coefficients, 3)
    assert kept.K.tolist() == [[1, 2, 0]]
    np.testing.assert_allclose(kept.responsibilities(), [[0.7, 0.2, 0.1]])
    np.testing.assert_allclose(kept.free_energies(), [0.0], atol=1e-14)


@names
def test_clusters_alike_tie_and_the_lowest_index_wins(name):
    model = MODELS[name]()
    means = np.array([[1.0, 5.0], [-1.0, 5.0], [1.0, 9.0]])
    coefficients = model.coefficients(model.unit_theta(means))
    X = np.array([[0.0, np.nan], [np.nan, np.nan], [1.0, np.nan], [np.nan, 7.0]])
    kept = Marginal().posterior(X, coefficients, 2)
    assert kept.K.tolist() == [[0, 1], [0, 1], [0, 2], [0, 1]]


@names
@pytest.mark.parametrize("C_prime", [1, 2, 3])
def test_any_division_of_the_leaves_gives_the_same_bits(name, C_prime):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2 * LEAF_ROWS + 77, 9))
    X[rng.uniform(size=X.shape) < 0.3] = np.nan
    model = MODELS[name]()
    theta = model.unit_theta(rng.normal(size=(3, 9)))
    args = (None, model.coefficients(theta), Plan(), C_prime)
    block = Block(X, rng.uniform(size=len(X)))
    K, whole = Marginal().sweep(block, *args)
    parts = [Marginal().sweep(block.part(rows), *args) for rows in block.slices()]
    leaves = [LeafSum.of_leaf(i, sums.total()) for i, (_, sums) in enumerate(parts)]
    assert K.K.tobytes() == np.concatenate([k.K for k, _ in parts]).tobytes()
    one, other = whole.total(), reduce(add, leaves).total()
    for field in fields(one):
        a, b = (np.asarray(getattr(s, field.name)) for s in (one, other))
        assert a.tobytes() == b.tobytes()
