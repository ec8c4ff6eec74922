"""What rows of a file keep: the same answers as in memory, from disk and in parts."""

import numpy as np
import pytest

from cprime.blocks import Kept
from cprime.rows import column
from cprime.rows.column import Column, KeptInBlocks

N = 1000


@pytest.fixture(params=[0, 2**20], ids=["disk", "memory"])
def kept(request, tmp_path, monkeypatch):
    """Clusters of all rows, in a column that is looked at a few rows at a time."""
    monkeypatch.setattr(column, "PART_BYTES", 700)

    def of(K):
        clusters = Column(K.shape, np.int32, request.param, tmp_path)
        clusters.put(K, 0)
        return KeptInBlocks(clusters), Kept(K)

    return of


def clusters(width):
    return np.random.default_rng(0).integers(0, 9, (N, width), dtype=np.int32)


@pytest.mark.parametrize("width", [1, 3])
def test_labels_and_parts_are_those_of_rows_in_memory(kept, width):
    found, expected = kept(clusters(width))
    assert found.shape == expected.shape == (N, width)
    np.testing.assert_array_equal(found.labels(), expected.labels())
    assert len(list(found.parts())) > 1
    np.testing.assert_array_equal(np.concatenate(list(found.parts())), expected.K)
    rows = np.array([N - 1, 3])
    np.testing.assert_array_equal(found.part(rows).K, expected.part(rows).K)


def test_rows_move_to_another_cluster_and_leave_hints_behind(kept):
    found, expected = kept(clusters(1))
    found.hints[0, N] = object()
    rows = np.array([0, 174, 175, 600, N - 1])
    moved = found.reassigned(rows, 9)
    assert moved.hints == {} and moved.changed == 1.0
    np.testing.assert_array_equal(moved.labels(), expected.reassigned(rows, 9).labels())
    np.testing.assert_array_equal(found.labels(), expected.labels())


def test_once_memory_is_full_only_blocks_with_hints_keep_them(kept):
    K, _ = kept(clusters(1))
    K.hints[0, 500] = object()
    full = KeptInBlocks(K.clusters, K.hints, full=True)
    assert K.has_room(slice(500, N)) and full.has_room(slice(0, 500))
    assert not full.has_room(slice(500, N))
    assert full.of_block(slice(0, 500)).hints is K.hints[0, 500]
    # Blocks of another size, as threads were added, have none.
    assert full.of_block(slice(0, 250)).hints is None
