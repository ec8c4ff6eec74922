"""Blocks move only if workers have unequal shares, and then as few as it takes."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cprime.sources import homes
from cprime.sources.homes import WORTH_A_MOVE, levelled, turns

WORKERS = {"a": 1, "b": 1, "c": 2}


@pytest.fixture(autouse=True)
def workers(monkeypatch):
    monkeypatch.setattr(homes, "threads_of_workers", lambda: WORKERS)


def shares(of_blocks, sizes):
    rows = Counter(dict.fromkeys(WORKERS, 0))
    for home, size in zip(of_blocks, sizes):
        rows[home] += size
    return {worker: rows[worker] / n for worker, n in WORKERS.items()}


@given(
    blocks=st.lists(
        st.tuples(st.sampled_from(list(WORKERS)), st.integers(1, 100)), min_size=1
    )
)
def test_no_move_is_left_that_would_help(blocks):
    before, sizes = map(list, zip(*blocks))
    after = levelled(before, sizes, WORKERS)
    worth = WORTH_A_MOVE * sum(sizes) / sum(WORKERS.values())
    of = shares(after, sizes)
    busiest, idlest = max(of, key=of.get), min(of, key=of.get)
    for home, size in zip(after, sizes):
        if home == busiest:
            assert of[idlest] + size / WORKERS[idlest] >= of[busiest] - worth
    assert max(of.values()) <= max(shares(before, sizes).values())


def test_equal_shares_are_left_alone():
    before = ["a", "b", "c", "c"] * 3
    assert levelled(before, [50] * 12, WORKERS) == before


def test_a_worker_that_is_new_gets_its_share():
    after = levelled(["a"] * 6 + ["c"] * 10, [10] * 16, WORKERS)
    assert Counter(after) == {"a": 4, "b": 4, "c": 8}


def test_a_worker_has_no_more_tasks_at_a_time_than_threads():
    assert turns(["a", "c", "a", "c", None, "c", "a"]) == [
        *(None, None, 0, None),
        *(None, 1, 2),
    ]
