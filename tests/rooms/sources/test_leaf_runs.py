"""Blocks end with leaves, cover all rows, and are nodes of the tree of sums."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cprime.blocks import LEAF_ROWS
from cprime.sources.leaf_runs import leaf_runs, overlaps, tree_nodes

lengths_of_chunks = st.lists(
    st.one_of(st.integers(0, 3), st.integers(0, 300_000)), min_size=1, max_size=12
).filter(sum)


@given(lengths_of_chunks)
def test_blocks_are_consecutive_and_end_with_a_leaf(lengths):
    places = leaf_runs(tuple(lengths))
    assert places[0].start == 0 and places[-1].stop == sum(lengths)
    for place, following in pairwise(places):
        assert place.start < place.stop == following.start
        assert place.stop % LEAF_ROWS == 0


@given(lengths_of_chunks)
def test_every_row_comes_from_where_it_lies(lengths):
    lengths = tuple(lengths)
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    for place in leaf_runs(lengths):
        at = place.start
        for i, start, stop in overlaps(lengths, place):
            assert 0 <= start < stop <= lengths[i]
            assert starts[i] + start == at
            at += stop - start
        assert at == place.stop


def test_few_rows_move_between_long_chunks():
    lengths = (1_000_003, 999_990, 1_000_100)
    ends = [1_000_003, 1_999_993]
    places = leaf_runs(lengths)
    moved = [abs(place.stop - end) for place, end in zip(places, ends)]
    assert len(places) == 3 and max(moved) <= 1_000_000 // 8


@given(st.integers(0, 500), st.integers(1, 500), st.integers(0, LEAF_ROWS - 1))
def test_nodes_cover_a_block_and_are_those_of_the_tree(start, count, short):
    place = slice(start * LEAF_ROWS, (start + count) * LEAF_ROWS - short)
    at = 0
    for node in tree_nodes(place):
        assert node.start == at < node.stop
        first = (place.start + node.start) // LEAF_ROWS
        n_leaves = -(-(node.stop - node.start) // LEAF_ROWS)
        assert n_leaves & (n_leaves - 1) == 0
        assert first % n_leaves == 0
        at = node.stop
    assert at == place.stop - place.start


@pytest.mark.parametrize("lengths", [(5,), (0, 5), (2048,) * 3, (1000,) * 5])
def test_short_chunks_become_blocks_of_a_leaf(lengths):
    assert all(p.stop - p.start <= LEAF_ROWS for p in leaf_runs(lengths))
