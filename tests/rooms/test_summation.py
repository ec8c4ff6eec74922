"""Sums over leaf blocks have one value, however they are put together."""

import numpy as np
import pytest

from cprime.summation import LeafSum


def run(values, start=0):
    total = LeafSum.of_leaf(start, values[0])
    for i, value in enumerate(values[1:], start + 1):
        total = total + LeafSum.of_leaf(i, value)
    return total


def test_a_run_keeps_few_nodes():
    assert len(run([1] * 1000).nodes) <= 10
    assert len(run([1] * 1000, start=333).nodes) <= 20


def test_it_is_a_sum():
    values = np.random.default_rng(0).normal(size=37)
    assert run(values).total() == pytest.approx(values.sum(), rel=1e-14)
    assert run(list(range(100)), start=5).total() == sum(range(100))


def test_runs_with_a_hole_between_them_do_not_add():
    with pytest.raises(ValueError, match="blocks 0 to 2 are not followed by blocks 4"):
        run([1, 2, 3]) + run([1, 2], start=4)


def test_plain_addition_would_not_do():
    # The reason this file exists: order changes the bits of a plain sum.
    rng = np.random.default_rng(1)
    values = rng.normal(size=64) * 10.0 ** rng.integers(-8, 8, 64)
    halves = values[:21].sum() + values[21:].sum()
    assert halves != values.sum()
    assert (run(values[:21]) + run(values[21:], 21)).total() == run(values).total()


def test_a_run_of_its_own_takes_its_place_among_the_others():
    values = np.random.default_rng(2).normal(size=15)
    first, second = run(values[:8]), run(values[8:])
    assert (first + second.shifted(8)) == run(values)
    assert second.shifted(8) == run(values[8:], start=8)


@pytest.mark.parametrize("way", [1, 2, 6, 9])
def test_a_run_cannot_stand_where_the_tree_has_no_such_sums(way):
    with pytest.raises(ValueError, match=f"4 leaf blocks cannot be moved by {way}"):
        run([1] * 7).shifted(way)
