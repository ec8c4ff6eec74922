"""Numbers of clusters that other rows might as well prefer."""

import numpy as np
import pytest

from cprime.kernels import native
from cprime.rows import MemoryRows
from cprime.selection.candidates import Fitter
from cprime.selection.criteria import bic_free_energy
from cprime.selection.path import Path
from cprime.selection.plausible import indistinguishable, standard_error


def fits(X, weights=None, most=5):
    weights = np.ones(len(X)) if weights is None else weights
    rows = MemoryRows(X, weights)
    fitter = Fitter(rows, native, "diag", np.full(2, 1e-6), float(weights.sum()))
    path = Path(fitter, 0)
    return rows, {found.C: found for found in path.grow(most)}


def blobs(apart, n=60, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal([k * apart, 0], 1, (n, 2)) for k in range(3)])


def highest_log_joints(theta, X):
    steps = X[:, None] - theta.means
    joints = np.log(theta.proportions) - 0.5 * np.sum(
        steps**2 / theta.covariance + np.log(2 * np.pi * theta.covariance), axis=2
    )
    return joints.max(axis=1)


def test_the_standard_error_is_that_of_a_sum_over_rows():
    X = blobs(4.0)
    rows, found = fits(X)
    of_rows = [highest_log_joints(found[C].theta, X) for C in (2, 3)]
    expected = np.sqrt(len(X)) * np.std(of_rows[0] - of_rows[1])
    error = standard_error(found[2], found[3], rows, native)
    assert error == pytest.approx(expected, rel=0.02)
    assert standard_error(found[3], found[3], rows, native) == 0.0


def test_weights_are_repetitions():
    X = blobs(4.0)
    twice, found = fits(np.repeat(X, 2, axis=0))
    weighted = MemoryRows(X, np.full(len(X), 2.0))
    assert standard_error(found[1], found[2], weighted, native) == pytest.approx(
        standard_error(found[1], found[2], twice, native)
    )


def numbers(X, best):
    rows, found = fits(X)
    return indistinguishable(found[best], found.values(), bic_free_energy, rows, native)


def test_what_is_far_apart_leaves_no_doubt():
    assert numbers(blobs(12.0), 3) == {3}


def test_what_overlaps_leaves_some():
    assert numbers(blobs(3.0, n=25), 3) >= {2, 3}


def test_only_rivals_leave_doubt():
    rows, found = fits(blobs(3.0, n=25))
    given = found[3], found.values(), bic_free_energy, rows, native
    assert indistinguishable(*given, lambda other: other.C != 2) & {1, 2} == set()
