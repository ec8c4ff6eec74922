"""Reordered, renumbered, moved or turned problems have such answers."""

import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from problems import cases, generator, variances

from cprime import KMeans
from cprime.models import Isotropic
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.theta import Theta

# With C' > 1 two means may come to share all their rows: one is nobody's closest.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
no_ties = cases(gridded=False, spare=3)


def fitted(case, X, weights, init):
    return KMeans(
        case.C,
        init=init,
        c_prime=case.C_prime,
        max_iter=10,
        kernel=case.kernel_name,
    ).fit(X, sample_weight=weights)


def nearly(case, digits):
    """Return the tolerance for centres that come out in the dtype of the data."""
    eps = max(10.0**-digits, float(np.finfo(case.rows.X.dtype).eps))
    return eps * np.abs(case.X).max()


@given(data=st.data(), case=no_ties)
def test_reordered_rows_have_the_same_labels_and_centres(data, case):
    order = generator(data.draw).permutation(len(case.X))
    one = fitted(case, case.rows.X, case.weights, case.means)
    other = fitted(case, case.rows.X[order], case.weights[order], case.means)
    assert other.labels_.tolist() == one.labels_[order].tolist()
    difference = other.cluster_centers_ - one.cluster_centers_
    assert np.abs(difference).max() <= nearly(case, 12)


@given(data=st.data(), case=no_ties)
def test_renumbered_means_give_renumbered_labels(data, case):
    numbers = np.array(data.draw(st.permutations(range(case.C))))
    one = fitted(case, case.rows.X, case.weights, case.means)
    other = fitted(case, case.rows.X, case.weights, case.means[numbers])
    # Several empty clusters take the worst rows in the order of their numbers.
    assume(one.n_relocations_ < 2)
    assert numbers[other.labels_].tolist() == one.labels_.tolist()
    difference = other.cluster_centers_ - one.cluster_centers_[numbers]
    assert np.abs(difference).max() <= nearly(case, 12)


@given(data=st.data(), case=cases(scattered=False), variance=variances)
def test_a_translation_on_the_grid_changes_no_bit_of_a_sweep(data, case, variance):
    # Multiples of 1/4 up to 2**20 are exact in float32, and so are the moved rows.
    steps = hnp.arrays(np.int64, case.D, elements=st.integers(-(2**19), 2**19))
    by = data.draw(steps).astype(case.rows.X.dtype)

    def swept(X, means):
        coefficients = Isotropic().coefficients(Theta(means, variance))
        rows, plan = MemoryRows(X, case.weights), Exact().plan()
        return rows.sweep(case.kernel, None, coefficients, plan, case.C_prime)

    K, stats = swept(case.rows.X, case.means)
    K_moved, moved = swept(case.rows.X + by, case.means + by)
    assert K_moved.K.tobytes() == K.K.tobytes()
    for field in fields(stats):
        a, b = (np.asarray(getattr(s, field.name)) for s in (stats, moved))
        assert a.tobytes() == b.tobytes()


@given(data=st.data(), case=no_ties)
def test_a_translated_fit_has_the_same_labels(data, case):
    # On a grid this fine nothing ties, and moved rows are still exact.
    X = np.round((case.X - case.X.mean(axis=0)) / np.ptp(case.X) * 2.0**20) / 2.0**20
    means = X[: case.C]
    by = data.draw(hnp.arrays(np.int64, case.D, elements=st.integers(-(2**20), 2**20)))
    one = fitted(case, X, case.weights, means)
    other = fitted(case, X + by, case.weights, means + by)
    assert other.labels_.tolist() == one.labels_.tolist()
    difference = other.cluster_centers_ - by - one.cluster_centers_
    assert np.abs(difference).max() <= 64 * np.spacing(2.0**20)
    assert math.isclose(other.free_energy_, one.free_energy_, abs_tol=1e-7)


@given(data=st.data(), case=no_ties)
def test_a_rotation_keeps_labels_and_free_energy(data, case):
    rotation, _ = np.linalg.qr(generator(data.draw).standard_normal((case.D, case.D)))
    one = fitted(case, case.X, case.weights, case.means)
    other = fitted(case, case.X @ rotation, case.weights, case.means @ rotation)
    assert other.labels_.tolist() == one.labels_.tolist()
    assert math.isclose(other.free_energy_, one.free_energy_, abs_tol=1e-9)
    difference = other.cluster_centers_ - one.cluster_centers_ @ rotation
    assert np.abs(difference).max() <= 1e-9 * np.abs(case.X).max()
