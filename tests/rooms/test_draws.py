"""A random point falls on a mass as often as the mass is large."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cprime.draws import drawn


def test_points_fall_where_masses_reach():
    found = drawn(np.array([1.0, 0.0, 2.0, 1.0]), np.array([0.0, 0.25, 0.7, 0.75]))
    assert found.tolist() == [0, 2, 2, 3]


@given(
    st.lists(st.sampled_from([0.0, 1e-300, 0.1, 3.0]), min_size=1).filter(any),
    st.floats(0.0, 1.0, exclude_max=True),
)
def test_nothing_of_no_mass_is_drawn(masses, point):
    masses = np.array(masses)
    assert masses[drawn(masses, np.array([point]))[0]] > 0


def test_a_point_next_to_one_falls_on_the_last_mass():
    masses = np.array([0.1] * 10 + [0.0])
    assert drawn(masses, np.array([np.nextafter(1.0, 0.0)]))[0] == 9
