"""Rows or weights times a power of two: the same fit in other units, bit by bit."""

import math
from dataclasses import replace

import numpy as np
import paper
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import cases, fewer_examples

from cprime import KMeans
from cprime.fitting.initialization import SEEDINGS

# With C' > 1 two means may come to share all their rows: one is nobody's closest.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
inits = pytest.mark.parametrize("init", [*SEEDINGS, "rows", "far away"])
no_ties = cases(gridded=False, spare=3)


def fitted(init, case, factor=1.0, weight_factor=1.0):
    # All but one of these are empty at first and must be moved.
    far_away = case.means + 100.0 * np.ptp(case.X) * np.arange(1, case.C + 1)[:, None]
    given_means = {"rows": case.means * factor, "far away": far_away * factor}
    return KMeans(
        case.C,
        init=given_means.get(init, init),
        n_init=1,
        c_prime=case.C_prime,
        max_iter=10,
        random_state=0,
        kernel=case.kernel_name,
    ).fit(
        case.rows.X * case.rows.X.dtype.type(factor),
        sample_weight=case.weights * weight_factor,
    )


@inits
@pytest.mark.parametrize("hard", [True, False])
@fewer_examples
@given(case=no_ties, exponent=st.integers(-30, 30))
def test_scaled_rows_have_the_scaled_centres(init, hard, case, exponent):
    case, factor = replace(case, C_prime=1) if hard else case, 2.0**exponent
    one, other = fitted(init, case), fitted(init, case, factor)
    expected = (one.cluster_centers_ * factor).astype(one.cluster_centers_.dtype)
    assert other.cluster_centers_.tobytes() == expected.tobytes()
    assert other.labels_.tobytes() == one.labels_.tobytes()
    assert other.variance_ == one.variance_ * factor**2
    assert other.inertia_ == one.inertia_ * factor**2
    F = one.free_energy_ - case.D * exponent * math.log(2.0)
    assert math.isclose(other.free_energy_, F, abs_tol=paper.rounding(F))


@inits
@fewer_examples
@given(case=no_ties, exponent=st.integers(-300, 300))
def test_scaled_weights_have_the_same_centres(init, case, exponent):
    one, other = fitted(init, case), fitted(init, case, weight_factor=2.0**exponent)
    assert other.cluster_centers_.tobytes() == one.cluster_centers_.tobytes()
    assert other.labels_.tobytes() == one.labels_.tobytes()
    assert other.free_energy_ == one.free_energy_
    assert other.inertia_ == one.inertia_ * 2.0**exponent
