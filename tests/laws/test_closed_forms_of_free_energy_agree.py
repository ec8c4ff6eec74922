"""Eq. 7, Prop. 3 and Cor. 2 are one number wherever the paper says so."""

import math

import numpy as np
import paper
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from problems import NEVER_CONVERGED, cases, variances

from cprime import bounds, em
from cprime.theta import Theta


def swept(case, variance):
    """Return a mixture, the clusters a sweep keeps under it, and its statistics."""
    problem, theta = case.problem(), Theta(case.means, variance)
    K, stats = problem.sweep(theta, None)
    return problem, theta, K.K, stats


@given(case=cases(), variance=variances)
def test_a_sweep_the_model_and_the_bound_report_the_paper_s_free_energy(case, variance):
    problem, theta, K, stats = swept(case, variance)
    kept = paper.inside(K, case.C)
    expected = paper.free_energy(case.X, case.weights, case.means, variance, kept)
    reports = [
        stats.free_energy / stats.weight,
        problem.model.free_energy(theta, stats, about=theta),
        bounds.free_energy(
            case.rows,
            problem.model.coefficients(theta),
            C_prime=case.C_prime,
            kernel=case.kernel,
        ),
    ]
    for F in reports:
        assert math.isclose(F, expected, abs_tol=paper.rounding(expected))


@given(data=st.data(), case=cases(spare=0), variance=variances)
def test_the_model_knows_it_for_any_other_theta_too(data, case, variance):
    problem, theta, K, stats = swept(case, variance)
    q = paper.posterior(case.X, case.means, variance, paper.inside(K, case.C))
    moves = hnp.arrays(np.float64, case.means.shape, elements=st.floats(-2.0, 2.0))
    other = Theta(case.means + data.draw(moves), data.draw(variances))
    F = problem.model.free_energy(other, stats, about=theta)
    expected = paper.variational_free_energy(
        case.X, case.weights, other.means, other.covariance, q
    )
    # The scatter about the other means comes from sums about these.
    scatter = stats.scatter / stats.weight / other.covariance
    assert math.isclose(F, expected, abs_tol=paper.rounding(expected, scatter))


@given(data=st.data(), case=cases(), variance=variances)
def test_the_truncated_posterior_is_the_best_q_and_gives_the_bound(
    data, case, variance
):
    problem, theta, K, _ = swept(case, variance)
    kept = paper.inside(K, case.C)
    K = np.nonzero(kept)[1].reshape(len(case.X), case.C_prime)
    coefficients = problem.model.coefficients(theta)

    def free_energy(q):
        q_kept = np.take_along_axis(q, K, axis=1)
        return bounds.variational_free_energy(
            case.rows, coefficients, q_kept, K, kernel=case.kernel
        )

    best = free_energy(paper.posterior(case.X, case.means, variance, kept))
    F = bounds.free_energy(
        case.rows, coefficients, C_prime=case.C_prime, kernel=case.kernel
    )
    assert math.isclose(best, F, abs_tol=paper.rounding(F))
    shares = hnp.arrays(np.float64, kept.shape, elements=st.integers(0, 4))
    other = np.where(kept, data.draw(shares), 0.0)
    other[other.sum(axis=1) == 0] = kept[other.sum(axis=1) == 0]
    other /= other.sum(axis=1, keepdims=True)
    worse = free_energy(other)
    expected = paper.variational_free_energy(
        case.X, case.weights, case.means, variance, other
    )
    assert math.isclose(worse, expected, abs_tol=paper.rounding(expected))
    assert worse <= best + paper.rounding(best, worse)


@given(case=cases(gridded=False, spare=3))
def test_after_every_iteration_of_k_means_variance_and_error_give_it(case):
    X, weights, C, D = case.X, case.weights, case.C, case.D
    problem = case.problem(C_prime=1)
    _, *history = em.steps(problem, case.means, NEVER_CONVERGED, max_iter=6)
    for step in history:
        kept, theta = paper.inside(step.K.K, C), step.theta
        J = np.sum(weights * np.sum(kept * paper.squared_distances(X, theta.means), 1))
        F = paper.free_energy(X, weights, theta.means, theta.covariance, kept)
        forms = [
            bounds.free_energy_of_variance(theta.covariance, C, D),
            bounds.free_energy_of_quantization_error(J, weights.sum(), C, D),
            step.free_energy,
        ]
        # An M-step may leave 20 bits less of the scatter it subtracts from.
        for form in forms:
            assert math.isclose(form, F, abs_tol=D * 2.0**-32)
