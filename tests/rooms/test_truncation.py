"""The C' closest clusters, and the posterior over them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cprime.truncation import Truncated, closest


@given(
    st.integers(1, 7).flatmap(
        lambda C: st.tuples(
            st.lists(
                st.lists(st.integers(0, 3), min_size=C, max_size=C),
                min_size=1,
                max_size=5,
            ),
            st.integers(1, C),
        )
    )
)
def test_closest_is_a_stable_sort_with_ties_to_the_lowest_index(problem):
    scores, C_prime = np.array(problem[0], dtype=float), problem[1]
    expected = np.argsort(scores, axis=1, kind="stable")[:, :C_prime]
    np.testing.assert_array_equal(closest(scores, C_prime), expected)


def truncated(log_joint):
    log_joint = np.atleast_2d(np.asarray(log_joint, dtype=float))
    K = np.broadcast_to(np.arange(log_joint.shape[1]), log_joint.shape)
    highest = log_joint.max(axis=1, keepdims=True)
    return Truncated(K, -log_joint, highest, log_joint - highest)


def test_two_equal_clusters_share_a_row():
    q, entropies, free_energies = truncated([-1.0, -1.0]).normalise()
    np.testing.assert_array_equal(q, [[0.5, 0.5]])
    np.testing.assert_allclose(entropies, np.log(2.0))
    np.testing.assert_allclose(free_energies, np.log(2.0) - 1.0)


def test_one_cluster_has_the_row_to_itself():
    q, entropies, free_energies = truncated([-123.0]).normalise()
    assert q == 1.0 and entropies == 0.0 and free_energies == -123.0


def test_a_hopeless_cluster_gets_an_exact_zero_and_no_nan():
    q, entropies, free_energies = truncated([-10.0, -1e200]).normalise()
    np.testing.assert_array_equal(q, [[1.0, 0.0]])
    assert entropies == 0.0 and free_energies == -10.0


def test_rows_far_below_underflow_still_have_a_posterior():
    q, _, free_energies = truncated([-1e6, -1e6 - np.log(3.0)]).normalise()
    np.testing.assert_allclose(q, [[0.75, 0.25]], rtol=1e-9)
    assert np.isfinite(free_energies).all()
