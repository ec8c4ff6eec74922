"""Batch by batch is EM on what is remembered: the same steps, fixed points, symmetries.

Batch t makes up t^-0.7 of it, unless weights say otherwise.
"""

import itertools
import math

import numpy as np
import paper
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mixtures import mixtures
from problems import cases, fewer_examples, generator

from cprime import KMeans, convergence, em, stepwise
from cprime.stepwise import Memory
from cprime.theta import Theta

no_ties = cases(gridded=False, spare=4, max_rows=30)
general = mixtures(gridded=False, spare=4, max_rows=30)
of_any_model = st.one_of(
    no_ties.map(lambda case: (case, case.problem())),
    general.map(lambda mixture: (mixture.case, mixture.problem())),
)


def streamed(case, batches, **params):
    """Return k-means after batches of rows and weights, from the case's means."""
    km = KMeans(
        case.C,
        **{"init": case.means, "c_prime": case.C_prime, "random_state": 0, **params},
        kernel=case.kernel_name,
    )
    for X, weights in batches:
        km.partial_fit(X, sample_weight=weights)
    return km


def in_batches(case, n):
    """Return the rows dealt out to n batches, with their weights."""
    batches = [(case.rows.X[i::n], case.weights[i::n]) for i in range(n)]
    assume(all(weights.sum() > 0 for _, weights in batches))
    return batches


def assert_close(one, other, size):
    assert np.abs(np.asarray(one) - other).max() <= 1e-9 * size


@given(of_any_model)
def test_without_memory_it_is_em(drawn):
    case, problem = drawn
    steps = list(em.steps(problem, case.means, convergence.Gain(-1.0), max_iter=4))
    batch = stepwise.begin(problem, case.means)
    for before, after in itertools.pairwise(steps):
        if before.iteration > 0:
            batch = stepwise.go_on(problem, batch.memory, kept=0.0)
        assume(batch.relocated == after.relocated)
        size = 1.0 + np.abs(case.X).max()
        assert_close(batch.before.means, before.theta.means, size)
        assert_close(batch.memory.theta.means, after.theta.means, size)
        assert_close(batch.memory.theta.covariance, after.theta.covariance, size**2)
        if after.theta.proportions is not None:
            assert_close(batch.memory.theta.proportions, after.theta.proportions, 1.0)


@given(data=st.data(), mixture=general)
def test_sums_about_other_means_are_those_of_a_sweep_there(data, mixture):
    """Rows have one posterior over one cluster, wherever its mean is."""
    case, problem, rng = mixture.case, mixture.problem(C_prime=1), generator(data.draw)
    one = Theta(case.means[:1], mixture.theta.covariance[:1])
    other = Theta(one.means + rng.normal(size=one.means.shape), one.covariance)
    stats, there = (problem.sweep(at, None)[1] for at in (one, other))
    moved = stepwise.recentred(problem.model, stats, one, other)
    size = case.weights.sum() * (1.0 + np.ptp(case.X) + np.abs(case.X).max())
    assert_close(moved.counts, there.counts, size)
    assert_close(moved.shifts, there.shifts, size)
    assert_close(moved.scatter, there.scatter, size * size)


@given(case=no_ties)
def test_what_is_remembered_is_about_the_present_means(case):
    memory = stepwise.begin(case.problem(), case.means).memory
    size = case.weights.sum() * (1.0 + np.abs(case.X).max())
    assert_close(memory.stats.shifts, 0.0, size)
    assert_close(memory.stats.counts.sum(), memory.weight, size)
    if memory.theta.covariance > 1e-3 * np.ptp(case.X) ** 2:
        scatter = memory.stats.scatter / (case.D * memory.weight)
        assert math.isclose(scatter, memory.theta.covariance, rel_tol=1e-9)


@given(
    weight=st.floats(0.1, 100.0), n=st.integers(2, 300), other=st.floats(0.01, 100.0)
)
def test_of_equal_batches_number_t_makes_up_its_power_of_t(weight, n, other):
    remembered = weight
    for t in range(2, n + 1):
        memory = Memory(None, None, t - 1, (t - 1) * weight)
        remembered = memory.kept(weight) * remembered + weight
    assert math.isclose(weight / remembered, n**-0.7, rel_tol=1e-9)
    # Others forget by their weight, in whatever unit it is.
    memory, doubled = (Memory(None, None, n, n * w) for w in (weight, 2.0 * weight))
    assert memory.kept(other) == doubled.kept(2.0 * other)
    assert memory.kept(1e-9 * weight) > 1.0 - 1e-6
    assert memory.kept(2.0 * weight) < memory.kept(weight) < 1.0


@pytest.mark.parametrize("c_prime", [1, 2, None])
@pytest.mark.parametrize("variance", [None, 2.0])
def test_all_rows_in_every_batch_end_where_a_fit_does(kernel_name, c_prime, variance):
    rng = np.random.default_rng(5)
    means = 1e4 + 5.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]])
    X = means[np.arange(300) % 6] + rng.normal(size=(300, 2))
    weights = rng.integers(1, 4, size=300)
    params = {"init": X[:6], "c_prime": c_prime, "variance": variance}
    km, fit = (KMeans(6, **params, tol=0.0, kernel=kernel_name) for _ in range(2))
    fit.fit(X, sample_weight=weights)
    for _ in range(300):
        km.partial_fit(X, sample_weight=weights)
    assert abs(fit.free_energy_ - km.free_energy_) < 1e-6
    assert np.abs(fit.cluster_centers_ - km.cluster_centers_).max() < 1e-3
    assert math.isclose(fit.variance_, km.variance_, rel_tol=1e-4)
    # And where a fit ends, batches change nothing.
    centers = fit.cluster_centers_
    fit.partial_fit(X, sample_weight=weights)
    assert np.abs(fit.cluster_centers_ - centers).max() < 1e-6


@pytest.mark.parametrize("init", ["k-means++", "random", "rows"])
@fewer_examples
@given(data=st.data(), case=no_ties)
def test_repeated_and_shuffled_rows_are_weighted_rows(init, data, case):
    given = {} if init == "rows" else {"init": init}
    weighted, repeated = [], []
    for X, _ in in_batches(case, 2):
        counts = data.draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 4)))
        counts[: case.C] += 1
        order = generator(data.draw).permutation(np.repeat(np.arange(len(X)), counts))
        weighted.append((X, counts))
        repeated.append((X[order], None))
    assume(len(weighted[0][0]) >= case.C)
    one, other = streamed(case, weighted, **given), streamed(case, repeated, **given)
    size = max(1e-9, float(np.finfo(case.rows.X.dtype).eps)) * np.abs(case.X).max()
    assert np.abs(one.cluster_centers_ - other.cluster_centers_).max() <= size
    assert one.labels_[order].tolist() == other.labels_.tolist()
    F, J = other.free_energy_, other.inertia_
    assert math.isclose(one.free_energy_, F, rel_tol=1e-9, abs_tol=1e-9)
    assert math.isclose(one.inertia_, J, rel_tol=1e-9)


@given(
    case=no_ties, exponent=st.integers(-30, 30), weight_exponent=st.integers(-60, 60)
)
def test_powers_of_two_change_no_bit(case, exponent, weight_exponent):
    factor, heavier = 2.0**exponent, 2.0**weight_exponent
    batches = in_batches(case, 3)
    scaled = [(X * X.dtype.type(factor), w * heavier) for X, w in batches]
    one = streamed(case, batches)
    other = streamed(case, scaled, init=case.means * factor)
    expected = (one.cluster_centers_ * factor).astype(one.cluster_centers_.dtype)
    assert other.cluster_centers_.tobytes() == expected.tobytes()
    assert other.labels_.tobytes() == one.labels_.tobytes()
    assert other.variance_ == one.variance_ * factor**2
    assert other.inertia_ == one.inertia_ * factor**2 * heavier
    F = one.free_energy_ - case.D * exponent * math.log(2.0)
    assert math.isclose(other.free_energy_, F, abs_tol=paper.rounding(F))


@given(case=no_ties, exponents=st.lists(st.sampled_from([0, 2, 4]), min_size=3))
def test_batches_may_need_other_units(case, exponents):
    """Some batches fit into float64 as they are, some only times a power of two."""
    batches = [
        (X.astype(np.float64) * 2.0**e, w)
        for (X, w), e in zip(in_batches(case, 3), exponents)
    ]
    far = 2.0**401 / max(np.abs(X).max() for X, _ in batches)
    one = streamed(case, batches)
    other = streamed(case, [(X * far, w) for X, w in batches], init=case.means * far)
    np.testing.assert_allclose(other.cluster_centers_, one.cluster_centers_ * far)
    assert other.labels_.tolist() == one.labels_.tolist()
    assert math.isclose(other.variance_ / far / far, one.variance_, rel_tol=1e-9)
