"""A block on a worker remembers little, and nothing of it travels."""

import pickle
import sys

import numpy as np

from cprime.sources.held import REMEMBERED, HeldBlock


def test_it_forgets_what_was_not_asked_for_longest():
    held = HeldBlock(0, np.zeros((3, 2)))
    for key in "ab":
        held.remember(key, key.upper())
    assert held.recall("a") == "A"
    held.remember("c", "C")
    assert REMEMBERED == 2
    assert [held.recall(key) for key in "abc"] == ["A", None, "C"]


def test_what_it_remembers_stays_where_it_is():
    held = HeldBlock(4096, np.arange(6.0).reshape(3, 2))
    held.remember("a", [1, 2])
    moved = pickle.loads(pickle.dumps(held))
    assert moved.recall("a") is None and moved.first == 4096
    np.testing.assert_array_equal(moved.values, held.values)


def test_it_is_as_large_as_its_rows():
    assert sys.getsizeof(HeldBlock(0, np.zeros((1000, 8)))) >= 64_000
