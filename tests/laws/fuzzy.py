"""Fuzzy k-means as plainly as numpy can write it, and problems of that kind.

X is (N, D) in float64, weights (N,), means (C, D). u is dense, (N, C), zero outside K.
"""

from dataclasses import replace

import numpy as np
import paper
from hypothesis import strategies as st

from cprime.kernels.fuzzy import FuzzyKernel
from cprime.kernels.memberships import Bezdek, Quadratic
from cprime.models import Distortion

ms = st.floats(0.1, 3.0).map(lambda excess: 1.0 + excess)
lams = st.floats(-6.0, 6.0).map(np.exp2)
rules = ms.map(Bezdek) | lams.map(Quadratic)


def problem_of(case, rule, C_prime=None):
    """Return the case as a problem of memberships by this rule."""
    problem = case.problem(Distortion(), C_prime=C_prime)
    return replace(problem, kernel=FuzzyKernel(case.kernel, rule))


def memberships(case, rule, K, means):
    """Return u of every row over the clusters in K, by the rule under test."""
    kept = paper.inside(K, case.C)
    distances = paper.squared_distances(case.X, means)
    u = np.zeros_like(distances)
    for row, d, own in zip(u, distances, kept):
        row[own] = rule.memberships(d[own][None])[0]
    return u


def prices(distances, u, rule):
    """Return what every row pays: sum u^m d, or sum u d + lam (sum u^2 - 1)."""
    if isinstance(rule, Bezdek):
        return np.sum(u**rule.m * distances, axis=1)
    return np.sum(u * distances, axis=1) + rule.lam * (np.sum(u**2, axis=1) - 1.0)


def objective(case, rule, u, means):
    """Return J per unit of weight, less lam for the quadratic one."""
    distances = paper.squared_distances(case.X, means)
    return paper.mean(prices(distances, u, rule), case.weights)


def rounding(case, rule):
    """Return what float64 may cost an objective, or a difference of two of them."""
    reach = np.abs(case.X).max() + np.abs(case.means).max()
    return 256 * paper.EPS * (case.D * reach**2 + getattr(rule, "lam", 0.0))
