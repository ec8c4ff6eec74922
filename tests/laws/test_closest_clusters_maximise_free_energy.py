"""A cluster swapped into K raises F if and only if it is closer (Prop. 1, Cor. 1)."""

import math
from itertools import combinations

import numpy as np
import paper
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from problems import cases, variances

from cprime import bounds
from cprime.models import Isotropic
from cprime.theta import Coefficients, Theta


def within_reach(case):
    """Return a mixture in which the farthest cluster still has a visible share."""
    farthest = paper.squared_distances(case.X, case.means).max()
    return Isotropic().coefficients(Theta(case.means, 1.0 + farthest / 16))


def subsets(case):
    return [list(K) for K in combinations(range(case.C), case.C_prime)]


def free_energy(case, y, coefficients, **options):
    """Return F of one row."""
    return bounds.free_energy(y[None], coefficients, kernel=case.kernel, **options)


# On the grid, squared distances that differ do so by 1/16 at least.
@given(case=cases(scattered=False, max_rows=6))
def test_a_swap_raises_it_if_and_only_if_the_newcomer_is_closer(case):
    coefficients = within_reach(case)
    distances = paper.squared_distances(case.X, case.means)
    for K in subsets(case):
        for leaving in K:
            for newcomer in set(range(case.C)) - set(K):
                swapped = [newcomer if c == leaving else c for c in K]
                for y, row in zip(case.X, distances):
                    before, after = (
                        free_energy(case, y, coefficients, K=[k]) for k in (K, swapped)
                    )
                    rises = after > before + paper.rounding(before)
                    assert rises == (row[newcomer] < row[leaving])


@given(case=cases(max_rows=8), variance=variances)
def test_the_closest_clusters_are_the_best_of_all_subsets(case, variance):
    coefficients = Isotropic().coefficients(Theta(case.means, variance))
    for y in case.X:
        best = free_energy(case, y, coefficients, C_prime=case.C_prime)
        for K in subsets(case):
            other = free_energy(case, y, coefficients, K=[K])
            assert other <= best + paper.rounding(best, other)


@given(case=cases(scattered=False, max_rows=8))
def test_no_other_subset_is_as_good_unless_distances_are_equal(case):
    coefficients = within_reach(case)
    distances = paper.squared_distances(case.X, case.means)
    K_best = case.kernel.posterior(case.X, coefficients, case.C_prime).K
    for y, row, chosen in zip(case.X, distances, K_best):
        best = free_energy(case, y, coefficients, C_prime=case.C_prime)
        for K in subsets(case):
            other = free_energy(case, y, coefficients, K=[K])
            as_close = sorted(row[K]) == sorted(row[chosen])
            assert (other >= best - paper.rounding(best)) == as_close


@given(data=st.data(), case=cases(max_rows=8))
def test_with_unequal_biases_the_most_likely_clusters_are_the_best(data, case):
    bias = data.draw(hnp.arrays(np.float64, case.C, elements=st.floats(-4.0, 4.0)))
    coefficients = Coefficients(bias, case.means, 1.0)
    joint = bias - 0.5 * paper.squared_distances(case.X, case.means)
    for y, row in zip(case.X, joint):
        best = max(np.logaddexp.reduce(row[K]) for K in subsets(case))
        F = free_energy(case, y, coefficients, C_prime=case.C_prime)
        assert math.isclose(F, best, abs_tol=paper.rounding(best, *bias))
