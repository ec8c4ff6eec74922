"""Rows of files where the system has none of the calls that Windows lacks."""

import ctypes
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from cprime import KMeans, open_data
from cprime.sources import memory, scratch
from cprime.sources.row_file import OpenFile, RowFile

X = np.random.default_rng(0).normal(size=(40_000, 4))
MISSING_CALLS = ["pread", "preadv", "pwrite", "posix_fadvise", "POSIX_FADV_WILLNEED"]
LITTLE = 2**20


@pytest.fixture(autouse=True)
def windows(monkeypatch):
    for name in MISSING_CALLS:
        monkeypatch.delattr(os, name, raising=False)


@pytest.fixture
def rows(tmp_path):
    found = scratch.scratch_rows(tmp_path, X.shape, X.dtype, "Rows")
    found.write(X, 0)
    return found


def test_rows_are_read_as_they_were_written(rows):
    assert np.array_equal(rows.read(0, len(X)), X)
    assert np.array_equal(rows.take(np.array([7, 0, 7])), X[[7, 0, 7]])
    assert np.array_equal(rows.mapped(), X)
    rows.write(-X[5:9], 5)
    assert np.array_equal(rows.read(4, 10), np.vstack([X[4], *-X[5:9], X[9]]))


def test_a_write_that_takes_less_than_given_goes_on(rows, monkeypatch):
    whole = os.write
    monkeypatch.setattr(os, "write", lambda file, data: whole(file, data[:11]))
    rows.write(-X[3:20], 3)
    assert np.array_equal(rows.read(3, 20), -X[3:20])


def test_threads_that_share_a_file_get_their_own_rows(rows, monkeypatch):
    monkeypatch.setattr("cprime.sources.row_file.COPIED_BYTES", 64)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda i: rows.read(i, i + 50), range(0, 4000, 7)))
    finally:
        sys.setswitchinterval(interval)
    for i, part in zip(range(0, 4000, 7), found):
        assert np.array_equal(part, X[i : i + 50])


def test_rows_that_are_not_there_are_named(tmp_path):
    (tmp_path / "x").write_bytes(X[:3].tobytes())
    file = RowFile(OpenFile.to_read(tmp_path / "x"), X.shape, X.dtype, name="x")
    with pytest.raises(ValueError, match=r"x has become shorter.* row 3 "):
        file.read(2, 5)


def test_temporary_rows_leave_nothing(tmp_path):
    rows = scratch.scratch_rows(tmp_path, X.shape, X.dtype, "Rows")
    rows.write(X, 0)
    del rows
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet", "arrow"])
def test_files_larger_than_memory_are_fitted_to_the_same_bits(tmp_path, kind):
    path, table = tmp_path / f"x.{kind}", pa.table(dict(zip("abcd", X.T)))
    if kind == "npy":
        np.save(path, X)
    elif kind == "csv":
        np.savetxt(path, X, delimiter=",", fmt="%.17g", header="a,b,c,d", comments="")
    elif kind == "parquet":
        pq.write_table(table, path)
    else:
        feather.write_feather(table, str(path), chunksize=5000)
    data = open_data(path, memory=LITTLE, scratch=tmp_path)
    assert not data.in_memory
    found = KMeans(3, init=X[:3], n_init=1).fit(data)
    expected = KMeans(3, init=X[:3], n_init=1).fit(X)
    assert np.array_equal(found.cluster_centers_, expected.cluster_centers_)


def test_memory_is_what_windows_says_it_is(monkeypatch):
    def fill(status):
        assert status[0] == 64 == ctypes.sizeof(status)
        status[1] = 2**34
        return 1

    kernel = SimpleNamespace(GlobalMemoryStatusEx=fill)
    windll = SimpleNamespace(kernel32=kernel)
    monkeypatch.setattr(ctypes, "windll", windll, raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(os, "sysconf")
    monkeypatch.setattr(memory, "CONTROL_GROUP_LIMITS", ())
    assert memory.bytes_of(None) == 2**32
