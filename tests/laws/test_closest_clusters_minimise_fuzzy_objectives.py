"""Of all sets of C' clusters a row could be a member of, its closest cost it least."""

from itertools import combinations

import fuzzy
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cprime.kernels.memberships import Bezdek

rows = hnp.arrays(np.float64, st.integers(1, 6), elements=st.floats(0.0, 100.0))


def least_price(d, rule):
    u = rule.memberships(d[None])
    return fuzzy.prices(d[None], u, rule)[0]


@given(d=rows, rule=fuzzy.rules, data=st.data())
def test_the_closest_are_the_best_of_all_subsets(d, rule, data):
    C_prime = data.draw(st.integers(1, len(d)))
    best = least_price(np.sort(d)[:C_prime], rule)
    error = 1e-13 * (d.max() + getattr(rule, "lam", 0.0))
    for K in combinations(range(len(d)), C_prime):
        assert least_price(d[list(K)], rule) >= best - error


@given(d=rows, rule=fuzzy.rules, data=st.data())
def test_no_other_memberships_are_cheaper(d, rule, data):
    weights = data.draw(
        hnp.arrays(np.float64, len(d), elements=st.floats(0.001, 1.0)),
    )
    other = fuzzy.prices(d[None], weights[None] / weights.sum(), rule)[0]
    error = 1e-13 * (d.max() + getattr(rule, "lam", 0.0))
    assert least_price(d, rule) <= other + error


@given(d=rows.map(lambda d: d + 0.01), m=fuzzy.ms)
def test_what_a_row_pays_for_fuzzy_c_means_has_a_closed_form(d, m):
    closed = np.sum(d ** (-1.0 / (m - 1.0))) ** (1.0 - m)
    assert abs(least_price(d, Bezdek(m)) - closed) <= 1e-9 * closed
