"""Rows that look at few clusters raise F as well (Prop. 1), whatever those are."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import paper
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mixtures import mixtures
from problems import NEVER_CONVERGED, Case, cases, generator, variances
from traces import assert_never_falls, history

from cprime import KMeans, em
from cprime.blocks import Block, Kept
from cprime.kernels import native, reference
from cprime.rows import MemoryRows
from cprime.search import Exact, Near, Neighbours, Plan
from cprime.summation import LeafSum
from cprime.theta import Theta


@st.composite
def crowds(draw, **options):
    """Draw a case with room between C' and C."""
    case = draw(cases(max_rows=40, max_C=12, **options))
    assume(case.C > 1)
    return replace(case, C_prime=draw(st.integers(1, case.C - 1)))


@st.composite
def searches(draw, case):
    """Draw a search by neighbours, of any number of them."""
    n_neighbors = draw(st.integers(case.C_prime, case.C))
    return Neighbours(n_neighbors, draw(st.integers(0, 3)), draw(st.booleans()))


@st.composite
def any_lists(draw, case):
    """Draw lists of different clusters, near or not, and clusters that rows keep."""
    rng = generator(draw)
    C, count = case.C, draw(st.integers(case.C_prime, case.C))
    lists = np.stack([rng.permutation(C)[:count] for _ in range(C)])
    K = np.stack([rng.permutation(C)[: case.C_prime] for _ in range(len(case.X))])
    n_explore, key = draw(st.integers(0, 3)), draw(st.integers(0, 2**63))
    return Near(lists.astype(np.int32), n_explore, key), K.astype(np.int32)


@given(data=st.data(), case=crowds(), variance=variances)
def test_any_lists_raise_it_from_any_clusters(data, case, variance):
    near, K = data.draw(any_lists(case))
    theta = Theta(case.means, variance)
    coefficients = case.problem().model.coefficients(theta)
    after, stats = case.rows.sweep(
        case.kernel, Kept(K), coefficients, Plan(near=near), case.C_prime
    )
    F_before, F_after = (
        paper.free_energy(
            case.X, case.weights, case.means, variance, paper.inside(of, case.C)
        )
        for of in (K, after.K)
    )
    assert F_after >= F_before - paper.rounding(F_before, F_after)
    assert np.isclose(stats.free_energy / stats.weight, F_after, rtol=1e-12)


@given(data=st.data(), case=crowds(), variance=variances)
def test_neither_half_of_an_iteration_lowers_it(data, case, variance):
    problem = case.problem(search=data.draw(searches(case)))
    theta, K, values = Theta(case.means, variance), None, []
    for _ in range(5):
        problem, _ = problem.follow(theta)
        K, stats = problem.sweep(theta, K)
        values.append(stats.free_energy / stats.weight)
        after = problem.model.maximize(stats, about=theta)
        values.append(problem.model.free_energy(after, stats, about=theta))
        theta = after
    fall = max(1.0, variance / theta.covariance)
    for before, later in pairwise(values):
        assert later >= before - paper.rounding(before * fall, later * fall)


# Rows drawn on few places may be fewer than clusters, and all on centres.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(data=st.data(), case=crowds(spare=5))
def test_the_trace_of_a_fit_never_falls(data, case):
    search = data.draw(searches(case))
    kmeans = KMeans(
        case.C,
        init=case.means,
        c_prime=case.C_prime,
        search="neighbours",
        n_neighbors=search.n_neighbors,
        n_explore=search.n_explore,
        finish="exact" if search.is_exact_at_end else "partial",
        tol=0.0,
        max_iter=30,
        kernel=case.kernel_name,
    ).fit(case.rows.X, sample_weight=case.weights)
    assert_never_falls(*history(kmeans))


@given(mixture=mixtures(names=("spherical", "diag"), max_C=8), data=st.data())
def test_mixtures_raise_it_too(mixture, data):
    case = mixture.case
    assume(1 <= case.C_prime < case.C)
    near, K = data.draw(any_lists(case))
    coefficients = mixture.model.coefficients(mixture.theta)

    def swept(K, near):
        return case.rows.sweep(
            case.kernel, Kept(K), coefficients, Plan(near=near), case.C_prime
        )

    _, before = swept(K, Near(near.lists[:, :0]))
    after, stats = swept(K, near)
    assert stats.free_energy >= before.free_energy - 1e-9 * abs(before.free_energy)
    again, same = swept(after.K, Near(near.lists[:, :0]))
    assert again.K.tobytes() == after.K.tobytes()
    assert same.free_energy == stats.free_energy


@given(case=crowds(), variance=variances, n_explore=st.integers(0, 2))
def test_with_all_clusters_as_neighbours_it_is_the_exact_search_to_the_bit(
    case, variance, n_explore
):
    def steps(search):
        problem = case.problem(search=search)
        return list(em.steps(problem, case.means, NEVER_CONVERGED, max_iter=8))

    exact, all_near = steps(Exact()), steps(Neighbours(case.C, n_explore))
    for a, b in zip(exact, all_near, strict=True):
        assert a.theta.means.tobytes() == b.theta.means.tobytes()
        assert a.theta.covariance == b.theta.covariance
        assert (a.free_energy, a.expected) == (b.free_energy, b.expected)
    assert exact[-1].K.K.tobytes() == all_near[-1].K.K.tobytes()


@pytest.mark.parametrize("n_neighbors", [1, 2, 12])
@pytest.mark.parametrize("tol", [0.0, 1e-4])
def test_a_fit_with_an_exact_end_goes_on_as_far_as_an_exact_one(n_neighbors, tol):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 3))
    options = {"tol": tol, "max_iter": 1000}
    found = KMeans(
        12, init=X[:12], search="neighbours", n_neighbors=n_neighbors, **options
    ).fit(X)
    if n_neighbors == 12:
        exact = KMeans(12, init=X[:12], **options).fit(X)
        assert np.array_equal(found.labels_, exact.labels_)
        assert found.n_iter_ == exact.n_iter_
        assert np.array_equal(found.trace_["changed"], exact.trace_["changed"])
    if tol == 0:
        after = KMeans(12, init=found.cluster_centers_, **options).fit(X)
        assert after.n_iter_ == 1
        assert np.array_equal(after.labels_, found.labels_)


@given(data=st.data(), case=crowds())
def test_a_row_takes_the_closest_of_what_it_looks_at(data, case):
    near, K = data.draw(any_lists(case))
    first = data.draw(st.integers(0, 2**40))
    coefficients = case.problem().model.coefficients(Theta(case.means, 1.0))
    block = Block(case.rows.X, case.weights, first=first)
    after, _ = case.kernel.sweep(
        block, Kept(K), coefficients, Plan(near=near), case.C_prime
    )
    distances = paper.squared_distances(case.X, case.means)
    for n, kept in enumerate(after.K):
        others = near.drawn(first + n, 1)[0]
        seen = {*K[n], *near.lists[K[n, 0]], *others}
        farthest = max(distances[n, kept])
        error = 1e-9 * (1 + farthest)
        assert set(kept) <= seen
        assert all(distances[n, c] >= farthest - error for c in seen - set(kept))


@given(data=st.data(), case=crowds(), cut=st.integers(0, 3))
def test_kernels_agree_to_the_row_and_any_division_of_rows_changes_no_bit(
    data, case, cut
):
    C, D = data.draw(st.integers(30, 120)), data.draw(st.integers(1, 20))
    rng = generator(data.draw)
    X = rng.standard_normal((5000, D)).astype(case.rows.X.dtype)
    means, C_prime = rng.standard_normal((C, D)), data.draw(st.integers(1, 18))
    count = data.draw(st.integers(C_prime, C))
    lists = np.stack([rng.permutation(C)[:count] for _ in range(C)]).astype(np.int32)
    plan = Plan(near=Near(lists, 1, cut))
    K = np.stack([rng.permutation(C)[:C_prime] for _ in X]).astype(np.int32)
    coefficients = Case(MemoryRows(X), means, C_prime, "native").problem().model
    coefficients = coefficients.coefficients(Theta(means, 0.5))
    block = Block(X, np.ones(len(X)))

    def swept(kernel, block, K):
        return kernel.sweep(block, Kept(K), coefficients, plan, C_prime)

    ours, sums = swept(native, block, K)
    theirs, _ = swept(reference, block, K)
    assert np.array_equal(ours.K, theirs.K)
    parts, total = [], None
    for begin, end in pairwise([0, 2048 * (1 + cut % 2), 4096, 5000]):
        if begin == end:
            continue
        part, of_part = swept(native, block.part(slice(begin, end)), K[begin:end])
        parts.append(part.K)
        of_part = of_part.shifted(begin // 2048)
        total = of_part if total is None else total + of_part
    assert isinstance(total, LeafSum)
    assert np.concatenate(parts).tobytes() == ours.K.tobytes()
    whole, pieces = sums.total(), total.total()
    assert whole.shifts.tobytes() == pieces.shifts.tobytes()
    assert whole.free_energy == pieces.free_energy
    assert whole.evaluations == pieces.evaluations


@given(data=st.data(), case=crowds())
def test_lists_hold_the_nearest_of_what_was_looked_at(data, case):
    coefficients = case.problem().model.coefficients(Theta(case.means, 1.0))
    count = data.draw(st.integers(1, case.C))
    lists, evaluations = case.kernel.near_clusters(coefficients, None, count)
    assert evaluations == case.C**2
    distances = paper.squared_distances(case.means, case.means)
    found = np.take_along_axis(distances, lists, axis=1)
    nearest = np.sort(distances, axis=1)[:, :count]
    assert np.allclose(found, nearest, rtol=1e-9, atol=1e-9)
    again, _ = case.kernel.near_clusters(coefficients, lists, count)
    assert np.array_equal(again, lists)


def test_a_fit_may_begin_with_labels_that_are_not_the_closest():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    case = Case(MemoryRows(X), X[:20], 2, "reference")
    problem = case.problem(search=Neighbours(5))
    labels = Kept(rng.integers(0, 20, (300, 1), dtype=np.int32))
    *_, last = em.steps(problem, case.means, NEVER_CONVERGED, 5, K=labels)
    assert last.K.shape == (300, 2)
