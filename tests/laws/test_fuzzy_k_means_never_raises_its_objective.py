"""Neither memberships nor means raise J, whatever the rule, C' and the weights."""

from itertools import pairwise

import fuzzy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import NEVER_CONVERGED, cases, generator
from test_free_energy_never_falls import first_means, starts

from cprime import FuzzyKMeans, em


@given(case=cases(), rule=fuzzy.rules)
def test_neither_half_step_raises_it(case, rule):
    problem = fuzzy.problem_of(case, rule)
    theta = problem.model.unit_theta(case.means)
    K, stats = problem.sweep(theta, None)
    u = fuzzy.memberships(case, rule, K.K, theta.means)
    values = [fuzzy.objective(case, rule, u, theta.means)]
    for _ in range(5):
        theta = problem.model.maximize(stats, about=theta)
        values.append(fuzzy.objective(case, rule, u, theta.means))
        K, stats = problem.sweep(theta, K)
        u = fuzzy.memberships(case, rule, K.K, theta.means)
        values.append(fuzzy.objective(case, rule, u, theta.means))
    for before, after in pairwise(values):
        assert after <= before + fuzzy.rounding(case, rule)


@given(case=cases(), rule=fuzzy.rules)
def test_the_free_energy_of_every_step_is_minus_that_objective(case, rule):
    problem = fuzzy.problem_of(case, rule)
    history = list(em.steps(problem, case.means, NEVER_CONVERGED, max_iter=6))
    for before, after in pairwise(history):
        # Of the memberships before the means moved.
        if after.relocated or case.C_prime == 1:
            continue
        u = fuzzy.memberships(case, rule, after.K.K, before.theta.means)
        J = fuzzy.objective(case, rule, u, after.theta.means)
        # A scatter may be taken too large by this share of the one before.
        slack = 2.0**-20 * fuzzy.objective(case, rule, u, before.theta.means)
        error = fuzzy.rounding(case, rule)
        assert -error <= -after.free_energy - J <= abs(slack) + error


kinds = st.one_of(
    st.builds(dict, m=fuzzy.ms),
    st.builds(dict, regularization=st.just("quadratic"), lam=fuzzy.lams),
    st.builds(dict, regularization=st.just("entropy"), lam=fuzzy.lams),
)


# Clusters may come to share all their rows: one is nobody's closest.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(data=st.data(), case=cases(max_rows=40), kind=kinds)
@pytest.mark.parametrize("start", starts)
def test_the_trace_of_a_fit_never_rises(start, data, case, kind):
    estimator = FuzzyKMeans(
        case.C,
        init=first_means(start, case.X, case.C, generator(data.draw)),
        n_init=1,
        c_prime=case.C_prime,
        tol=0.0,
        max_iter=30,
        random_state=0,
        kernel=case.kernel_name,
        **kind,
    ).fit(case.rows.X, sample_weight=case.weights)
    J = estimator.trace_["objective"]
    if case.rows.X.dtype == np.float64:
        # Centres rounded to float32 are not quite the best ones any more.
        J = np.append(J, estimator.objective_)
    # What is left of J when means have moved comes from a subtraction: it is known as
    # well as the J before.
    size = np.maximum(np.abs(J[:-1]), np.abs(np.r_[J[0], J[:-2]]))
    error = 1e-13 * (size + kind.get("lam", 0.0) * case.weights.sum())
    assert np.all(np.diff(J) <= error + 1e-300)
