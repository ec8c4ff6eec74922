"""lazy-k-means moves a row only if that is worth it, and raises F (Supplement D)."""

import math

import numpy as np
import paper
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from problems import FLOOR, NEVER_CONVERGED, cases, generator, labellings, variances

from cprime import KMeans, bounds, em
from cprime.blocks import Block, Kept
from cprime.kernels import get_kernel
from cprime.models import Isotropic
from cprime.search import Exact, Lazy
from cprime.theta import Coefficients, Theta

# Squares of 1 + eps are exact, so both sides of the criterion are too on gridded rows.
dyadic_eps = st.sampled_from([0.25, 0.5, 1.0, 3.0])
reluctances = st.floats(0.0, 1e300) | dyadic_eps


@given(data=st.data(), case=cases(scattered=False), variance=variances)
def test_eps_zero_is_k_means_to_the_bit_ties_included(data, case, variance):
    theta, K = Theta(case.means, variance), Kept(data.draw(labellings(case)))
    exact, lazy = (case.problem(search=s, C_prime=1) for s in (Exact(), Lazy(0.0)))
    for _ in range(5):
        K_exact, exact_stats = exact.sweep(theta, K)
        K, stats = lazy.sweep(theta, K)
        assert K.K.tobytes() == K_exact.K.tobytes()
        next_theta = lazy.model.maximize(stats, theta)
        theta = exact.model.maximize(exact_stats, theta)
        assert next_theta.means.tobytes() == theta.means.tobytes()


@given(data=st.data(), case=cases(scattered=False), eps=dyadic_eps)
def test_a_row_moves_if_and_only_if_its_nearest_mean_is_closer_by_1_plus_eps(
    data, case, eps
):
    K = Kept(data.draw(labellings(case)))
    problem = case.problem(search=Lazy(eps), C_prime=1)
    K_after, _ = problem.sweep(Theta(case.means, 1.0), K)
    before, after = (paper.labels(each.K, case.C) for each in (K, K_after))
    distances = paper.squared_distances(case.X, case.means)
    for row, old, new in zip(distances, before, after):
        nearest = np.argmin(row)
        worth_it = (1 + eps) ** 2 * row[nearest] < row[old]
        assert new == (nearest if worth_it else old)


@st.composite
def several(draw, case):
    """Draw a number of clusters below C, and as many different ones for every row."""
    C_prime, rng = draw(st.integers(1, case.C - 1)), generator(draw)
    K = [rng.permutation(case.C)[:C_prime] for _ in range(len(case.X))]
    return C_prime, np.array(K, dtype=np.int32)


@given(data=st.data(), case=cases(scattered=False), eps=dyadic_eps)
def test_of_several_the_farthest_is_swapped_first_and_only_for_one_as_much_closer(
    data, case, eps
):
    assume(case.C > 1)
    C_prime, K = data.draw(several(case))
    problem = case.problem(search=Lazy(eps), C_prime=C_prime)
    K_after, _ = problem.sweep(Theta(case.means, 1.0), Kept(K))
    distances = paper.squared_distances(case.X, case.means)
    for row, had, found in zip(distances, K.tolist(), K_after.K.tolist()):
        kept = sorted(had, key=lambda c: (row[c], c))
        others = sorted(set(range(case.C)) - set(had), key=lambda c: (row[c], c))
        farthest_first = kept[::-1]
        for i, (own, other) in enumerate(zip(farthest_first, others)):
            if not (1 + eps) ** 2 * row[other] < row[own]:
                break
            kept[C_prime - 1 - i] = other
        assert found == sorted(kept, key=lambda c: (row[c], c))


@given(data=st.data(), case=cases(), C_prime=st.integers(1, 3))
def test_the_one_cluster_a_row_was_given_is_among_those_it_keeps(data, case, C_prime):
    assume(C_prime < case.C)
    given_labels = data.draw(labellings(case))
    problem = case.problem(search=Lazy(1e200), C_prime=C_prime)
    start = next(
        em.steps(problem, case.means, NEVER_CONVERGED, 1, K=Kept(given_labels))
    )
    assert start.K.K.shape == (len(case.X), C_prime)
    assert (given_labels == start.K.K).any(axis=1).all()
    assert all(len({*row}) == C_prime for row in start.K.K.tolist())


@pytest.mark.parametrize("D", [8, 9, 13])
@pytest.mark.parametrize("kernel_name", ["native", "reference"])
def test_a_row_that_was_moved_takes_the_closest_of_the_others(kernel_name, D):
    """Its new cluster is in all its places, and bounds none of the others."""
    places = np.arange(8.0)[::-1, None] * np.ones((1, D))
    full = Coefficients(np.zeros(8), places, np.stack([np.eye(D)] * 8))
    moved = Kept(np.full((1, 2), 7, dtype=np.int32))
    block = Block(np.zeros((1, D)), np.ones(1))
    for search in (Lazy(0.1), Exact()):
        K, _ = get_kernel(kernel_name).sweep(block, moved, full, search.plan(), 2)
        assert K.K.tolist() == [[7, 6]]


@given(data=st.data(), case=cases(), eps=reluctances, variance=variances)
def test_any_eps_raises_the_free_energy_from_any_clusters(data, case, eps, variance):
    assume(case.C > 1)
    C_prime, K = data.draw(several(case))
    before = Kept(K)
    after, stats = case.problem(search=Lazy(eps), C_prime=C_prime).sweep(
        Theta(case.means, variance), before
    )
    F_before, F_after = (
        paper.free_energy(
            case.X, case.weights, case.means, variance, paper.inside(K.K, case.C)
        )
        for K in (before, after)
    )
    assert F_after >= F_before - paper.rounding(F_before, F_after)
    assert math.isclose(stats.free_energy / stats.weight, F_after, rel_tol=1e-12)


@given(case=cases(), eps=reluctances, one=variances, other=variances)
def test_means_and_labels_do_not_depend_on_the_variance(case, eps, one, other):
    def steps(variance_init):
        model = Isotropic(floor=FLOOR, variance_init=variance_init)
        problem = case.problem(model, Lazy(eps), C_prime=1)
        return em.steps(problem, case.means, NEVER_CONVERGED, max_iter=8)

    for a, b in zip(steps(one), steps(other), strict=True):
        assert a.theta.means.tobytes() == b.theta.means.tobytes()
        assert a.K.K.tobytes() == b.K.K.tobytes()


@pytest.mark.parametrize("eps", [0.0, 0.1, 1.0])
@given(case=cases(gridded=False, spare=5))
def test_the_quantization_error_of_lazy_labels_gives_the_free_energy(eps, case):
    kmeans = KMeans(
        case.C, init=case.means, search="lazy", eps=eps, kernel=case.kernel_name
    ).fit(case.rows.X, sample_weight=case.weights)
    means, labels = kmeans.cluster_centers_.astype(np.float64), kmeans.labels_
    J = np.sum(case.weights * np.sum((case.X - means[labels]) ** 2, axis=1))
    weight = case.weights.sum()
    F = bounds.free_energy_of_quantization_error(J, weight, case.C, case.D)
    assert math.isclose(kmeans.inertia_, J, rel_tol=1e-12)
    assert math.isclose(kmeans.free_energy_, F, abs_tol=paper.rounding(F))
