"""What compiled code finds of all rows is what numpy and sweeps find, to the bit."""

import numpy as np
import pytest
import scipy.sparse as sp

from cprime.blocks import LEAF_ROWS, Block, unit_weights
from cprime.kernels import native, surveys
from cprime.models import Isotropic
from cprime.ordering import places_by_value
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.sampling import Direction
from cprime.search import Exact
from cprime.theta import Theta

RNG = np.random.default_rng(2)


def blocks():
    for n, D in [(1, 1), (7, 3), (150, 4), (3 * LEAF_ROWS + 5, 9), (5000, 40)]:
        X = RNG.normal(size=(n, D)) * 10.0 ** RNG.integers(-3, 3, size=D)
        weights = RNG.integers(0, 3, size=n) * RNG.random(n)
        weights[0] = 1.0
        yield Block(X, weights)
        yield Block(X.round(0).astype(np.float32), unit_weights(n))
        yield Block(sp.csr_matrix(X.round(1)), weights, 2.0**-7)
        yield Block(np.asfortranarray(X), weights)


def swept(block):
    """Return mean and variance of all rows as two sweeps give them."""
    problem = Problem(MemoryRows.of(block), Isotropic(), Exact(), native, C_prime=1)
    start = int(np.argmax(block.weights))
    means = block.dense(slice(start, start + 1)).astype(np.float64)
    for _ in range(2):
        _, stats = problem.sweep(Theta(means, 1.0), None)
        found, means = means, means + stats.shifts / stats.weight
    return found[0], stats.scatter / (means.shape[1] * stats.weight)


@pytest.mark.parametrize("block", list(blocks()))
def test_one_cluster_is_two_sweeps(block):
    mean, variance = surveys.one_cluster(block)
    expected_mean, expected_variance = swept(block)
    assert np.array_equal(mean, expected_mean)
    assert variance == expected_variance


@pytest.mark.parametrize("block", list(blocks()))
def test_rows_line_up_by_place_then_by_value(block):
    along = Direction(MemoryRows.of(block), np.random.default_rng(0))
    values = block.dense(slice(None)).astype(np.float64)
    by_value, places = places_by_value(values), along.places(values)
    found = surveys.line_up(block, along.direction, along.middle)
    order = np.lexsort((by_value, places))
    assert np.array_equal(found.order, order)
    differs = by_value[order][1:] != by_value[order][:-1]
    assert np.array_equal(np.diff(found.copies), differs)


def test_rows_that_share_a_place_are_told_apart():
    # One row so far away that rounding takes what the others differ by.
    X = np.array([[1.0, 3.0], [1.0, 2.0], [1e30, 0.0], [1.0, 3.0], [0.0, 5.0]])
    found = surveys.line_up(Block(X, unit_weights(5)), np.ones(2), np.full(2, 1e30))
    assert found.order.tolist() == [4, 1, 0, 3, 2]
    assert found.copies.tolist() == [1, 2, 3, 3, 4]
