"""The same rows have the same fingerprint, and others another one."""

import numpy as np
import pytest
import scipy.sparse as sp

from cprime import open_data
from cprime.storage import fingerprint as module
from cprime.storage.fingerprint import fingerprint

ROWS = np.random.RandomState(0).normal(size=(100, 4))


@pytest.mark.parametrize("at_once", [7, 2**14])
def test_the_same_rows_however_they_lie(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    expected = fingerprint(ROWS)
    assert expected.startswith("sha256:")
    wide = np.zeros((200, 8))
    wide[::2, ::2] = ROWS
    np.save(tmp_path / "rows.npy", ROWS)
    for same in (
        ROWS.copy(),
        np.asfortranarray(ROWS),
        wide[::2, ::2],
        open_data(ROWS),
        open_data(tmp_path / "rows.npy"),
    ):
        assert fingerprint(same) == expected


def test_other_rows():
    flipped = ROWS.copy()
    flipped[99, 3] = np.nextafter(flipped[99, 3], 1.0)
    others = [
        ROWS,
        flipped,
        ROWS[::-1],
        ROWS.reshape(200, 2),
        ROWS.view(np.int64),
        ROWS.astype(np.float32),
        ROWS[:0],
        ROWS[:0, :2],
    ]
    assert len({fingerprint(other) for other in others}) == len(others)


def test_sparse_rows():
    rows = sp.csr_array(np.where(ROWS > 0.5, ROWS, 0.0))
    moved = rows.copy()
    moved.indices[:2] = [3, 2]
    others = [rows, moved, rows[::-1], rows * 2.0, sp.csr_array(rows.shape)]
    assert len({fingerprint(other) for other in others}) == len(others)
    assert fingerprint(rows.copy()) == fingerprint(rows)
