"""Memberships, on rows worked out by hand and where float64 ends."""

import numpy as np
import pytest

from cprime.kernels.memberships import Bezdek, Quadratic

TINY, HUGE = 1e-300, 1e300


def bezdek(m, *distances):
    return Bezdek(m).memberships(np.array([distances]))[0]


def quadratic(lam, *distances):
    return Quadratic(lam).memberships(np.array([distances]))[0]


def test_fuzzy_c_means_by_hand():
    # 1/1, 1/2 and 1/4 of 7/4; with m = 3 the roots of that.
    np.testing.assert_allclose(bezdek(2.0, 2.0, 1.0, 4.0), np.array([2, 4, 1]) / 7)
    roots = np.array([1.0, 1.0 / 3.0])
    np.testing.assert_allclose(bezdek(3.0, 1.0, 9.0), roots / roots.sum())


def test_a_row_on_a_centre_is_its_member_alone():
    assert bezdek(2.0, 0.0, TINY, 1.0).tolist() == [1.0, 0.0, 0.0]
    assert bezdek(100.0, 1.0, 0.0).tolist() == [0.0, 1.0]


def test_coinciding_centres_have_equal_shares_of_a_row_on_them():
    assert bezdek(2.0, 0.0, 5.0, 0.0).tolist() == [0.5, 0.0, 0.5]
    assert bezdek(1.0 + 1e-15, 3.0, 3.0).tolist() == [0.5, 0.5]
    assert quadratic(1.0, 0.0, 5.0, 0.0).tolist() == [0.5, 0.0, 0.5]


def test_next_to_no_fuzziness_still_tells_what_is_closer():
    # A millionth farther, to the power of minus a million, is 1/e.
    u = bezdek(1.0 + 1e-6, 1.0, 1.0 + 1e-6)
    np.testing.assert_allclose(u, [1 / (1 + np.exp(-1)), 1 / (1 + np.e)], rtol=1e-5)
    closest = np.nextafter(1.0, 2.0)
    assert bezdek(closest, 1.0, 1.0 + 1e-12).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("m", [np.nextafter(1.0, 2.0), 1.1, 2.0, 50.0, 1e300])
@pytest.mark.parametrize("distances", [[TINY, HUGE], [5e-324, 1.0], [HUGE, HUGE]])
def test_no_size_of_numbers_gives_anything_but_memberships(m, distances):
    u = bezdek(m, *distances)
    assert np.isfinite(u).all()
    assert u.sum() == pytest.approx(1.0)
    assert u[0] >= u[1] >= 0.0


def test_fuzzy_c_means_does_not_depend_on_units():
    distances = np.array([[1.0, 2.0, 3.5]])
    for m in (1.01, 2.0, 7.0):
        here, there = (Bezdek(m).memberships(f * distances) for f in (1.0, 2.0**-1000))
        assert here.tobytes() == there.tobytes()


def test_quadratic_by_hand():
    # Levels with one and two members: u = (1 +- 1/2) / 2, and the third is left out.
    np.testing.assert_allclose(quadratic(1.0, 1.0, 0.0, 9.0), [0.25, 0.75, 0.0])
    # A cluster exactly at the level has nothing, and that is no member.
    assert quadratic(0.5, 0.0, 1.0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("lam", [5e-324, TINY, 1.0, HUGE, 1.7e308])
@pytest.mark.parametrize("distances", [[0.0, HUGE], [TINY, HUGE, HUGE], [HUGE, HUGE]])
def test_no_weight_of_a_regularisation_gives_anything_but_memberships(lam, distances):
    u = quadratic(lam, *distances)
    assert np.isfinite(u).all()
    assert u.sum() == pytest.approx(1.0)
    assert u[0] == u.max() and u.min() >= 0.0


def test_what_rows_pay_less_is_nothing_for_a_row_of_one_cluster():
    u = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert Quadratic(3.0).entropies(u).tolist() == [0.0, 1.5]
    assert Bezdek(3.0).entropies(u).tolist() == [0.0, 0.0]
    assert Bezdek(3.0).shares(u).tolist() == [[1.0, 0.0], [0.125, 0.125]]
    assert Quadratic(3.0).shares(u).tolist() == u.tolist()
