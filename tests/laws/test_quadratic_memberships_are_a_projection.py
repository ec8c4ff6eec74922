"""Memberships with a quadratic regularisation are the nearest point of the simplex."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from problems import generator

from cprime.kernels.memberships import Quadratic

distances = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 8)),
    elements=st.floats(0.0, 100.0) | st.integers(0, 4).map(float),
)
lams = st.floats(-10.0, 10.0).map(np.exp2)


@given(d=distances, lam=lams)
def test_no_membership_could_be_moved_to_advantage(d, lam):
    u = Quadratic(lam).memberships(d)
    assert np.all(u >= 0.0)
    assert np.abs(u.sum(axis=1) - 1.0).max() <= 1e-15 * d.shape[1]
    # What one more bit of membership would cost is the same for all clusters that have
    # some, and no less for those that have none (Karush, Kuhn, Tucker).
    marginal = d + 2.0 * lam * u
    lowest = marginal.min(axis=1, keepdims=True)
    tolerance = 1e-13 * (d.max() + lam)
    assert np.all(np.where(u > 0.0, marginal - lowest, 0.0) <= tolerance)


@given(d=distances, lam=lams, data=st.data())
def test_no_other_memberships_are_nearer_or_cheaper(d, lam, data):
    u = Quadratic(lam).memberships(d)
    other = generator(data.draw).dirichlet(np.full(d.shape[1], 0.5), size=len(d))
    nearness = [np.sum((v + 0.5 * d / lam) ** 2, axis=1) for v in (u, other)]
    assert np.all(nearness[0] <= nearness[1] * (1.0 + 1e-12))
    price = [np.sum(v * d + lam * v**2, axis=1) for v in (u, other)]
    assert np.all(price[0] <= price[1] + 1e-12 * (d.max() + lam))
