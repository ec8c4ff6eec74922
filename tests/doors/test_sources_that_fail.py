"""Rows that do not come as promised: iterators, tables, full disks, changing files."""

import errno
import os
import re
import resource
import shutil
import struct

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from large_pages import LARGE_PAGES

from cprime import KMeans, open_data
from cprime.sources.passthrough import passthrough

X = np.random.default_rng(0).normal(size=(50, 2))
TABLE = pa.table({"a": X[:, 0], "b": X[:, 1]})
# As little as there can be.
LITTLE = 2**20


def refused(kind, message, ask):
    """Ask; expect this error, in one line, without any other behind it."""
    with pytest.raises(kind) as found:
        ask()
    assert type(found.value) is kind
    assert message in str(found.value) and str(found.value).isprintable()
    assert found.value.__cause__ is None
    assert found.value.__context__ is None or found.value.__suppress_context__


def batches(*given):
    """Return a function that returns an iterator of these."""

    def rows():
        return iter(given)

    return rows


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (lambda: None, TypeError, "returned NoneType, not an iterator"),
        (lambda: 5, TypeError, "returned int, not an iterator"),
        (KMeans, TypeError, "KMeans() returned KMeans, not an iterator"),
        (lambda: X, ValueError, "Batch 0 of <lambda>() should be numbers in rows"),
        (batches(), ValueError, "rows() gave no batch of rows"),
        (batches(X[:0]), ValueError, "rows() has no rows"),
        (batches(X[:, :0]), ValueError, "rows() has no columns"),
        (batches(X[0]), ValueError, "of float64 of shape (2,)"),
        (batches(X[None]), ValueError, "of shape (1, 50, 2)"),
        (batches(X, X[:, :1]), ValueError, "Batch 1 of rows() has 1 columns"),
        (batches(X.astype("f4"), X), ValueError, "columns of float64, those before"),
        (batches([[1, 2], [3]]), ValueError, "Batch 0 of rows() should be numbers"),
        (batches(X.astype(object)), ValueError, "ndarray of object"),
        (batches(X * 1j), ValueError, "of complex128"),
        (batches(X.astype("M8[s]")), ValueError, "of datetime64[s]"),
        (batches("ab"), ValueError, "not str of"),
        (batches(None), ValueError, "not NoneType of"),
        (batches(sp.csr_array(X)), ValueError, "not csr_array of"),
        (batches(np.ma.array(X, mask=X > 0)), ValueError, "has masked values"),
    ],
)
def test_iterators_that_give_no_rows(function, kind, message):
    refused(kind, message, lambda: open_data(function))
    refused(kind, message, lambda: KMeans(2).fit(function))


@pytest.mark.parametrize(
    "given",
    [
        (X[:20], X[20:]),
        (X[:0], X, X[:0]),
        (X.tolist(),),
        (pd.DataFrame(X), pl.DataFrame(X)[:0]),
        (X.astype(np.longdouble),),
    ],
)
def test_iterators_of_anything_like_rows(given):
    assert np.array_equal(open_data(batches(*given)).load(), X)


def test_an_iterator_may_use_one_array_for_all_batches():
    def rows():
        buffer = np.empty((1, 2))
        for row in X:
            buffer[:] = row
            yield buffer

    assert np.array_equal(open_data(rows).load(), X)


@pytest.mark.parametrize("memory", [None, LITTLE])
def test_what_goes_wrong_in_an_iterator_is_said_by_itself(memory):
    def rows():
        yield from [X] * 2000
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        open_data(rows, memory=memory)


def endless():
    """Yield more rows than anyone here takes; without end they would fill the disk."""
    for _ in range(2**10):
        yield np.zeros((2**14, 2))
    raise AssertionError("nobody has noticed that the disk is full")


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def filling():
    """Return what seems to be a disk with ever less room."""
    free = 2**28 + 2**24

    class Usage:
        def __init__(self, folder):
            nonlocal free
            free -= 2**18
            self.free = free

    return Usage


def test_a_full_disk_is_noticed_before_it_is_full(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "disk_usage", filling())
    message = f"in {tmp_path}, where 268 MB are free: give a folder with more room"
    ask = {"memory": LITTLE, "scratch": tmp_path}
    refused(OSError, message, lambda: open_data(endless, **ask))


@pytest.mark.parametrize("free", [0, 10**6, 2**28 + 2**20], ids=str)
def test_a_disk_that_is_full_already_is_told_with_what_is_needed(
    monkeypatch, tmp_path, free
):
    class Usage:
        def __init__(self, folder):
            self.free = free

    monkeypatch.setattr(shutil, "disk_usage", Usage)
    # Of the first six batches, five are more than half of the memory.
    rows = batches(*[np.zeros((2**14, 2))] * 6)
    ask = {"memory": 2**21, "scratch": tmp_path}
    message = f"The first 81920 rows take 1.31 MB in {tmp_path}, where"
    refused(OSError, message, lambda: open_data(rows, **ask))


def test_a_disk_that_fills_is_told_with_all_that_is_needed(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "disk_usage", filling())
    with pytest.raises(OSError, match="where 268 MB are free") as found:
        open_data(endless, memory=LITTLE, scratch=tmp_path)
    told = re.match(
        r"The first (\d+) rows take ([\d.]+) MB, ([\d.]+) MB of it written, in ",
        str(found.value),
    )
    n_rows, needed, written = (float(figure) for figure in told.groups())
    assert needed == pytest.approx(16e-6 * n_rows, rel=0.01)
    assert needed - written == pytest.approx(16e-6 * 2**14, abs=0.1)
    assert "(268 MB are left to others)" in str(found.value)


@pytest.mark.parametrize("broken", ["pwrite", "limit", "folder"])
def test_a_disk_that_does_not_take_rows(monkeypatch, tmp_path, broken):
    message = f"The temporary file in {tmp_path} does not take more rows"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if broken == "pwrite":
        monkeypatch.setattr(os, "pwrite", full)
    elif broken == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**21, limits[1]))
    else:
        monkeypatch.setattr(shutil, "disk_usage", full)
        message = f"{tmp_path} cannot hold temporary files"
    ask = {"memory": LITTLE, "scratch": tmp_path}
    try:
        refused(OSError, message, lambda: open_data(endless, **ask))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_a_fit_ends_when_its_clusters_have_no_room(monkeypatch, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(2**16, 4)))
    data = open_data(tmp_path / "x.npy", memory=LITTLE, scratch=tmp_path)
    monkeypatch.setattr(os, "pwrite", full)
    km = KMeans(4, c_prime=2, init="sampled-k-means++", random_state=0)
    refused(OSError, "No space left on device", lambda: km.fit(data))


def test_rows_that_the_disk_cannot_hold_are_not_begun(monkeypatch, tmp_path):
    pq.write_table(pa.table({"a": np.zeros(2**18)}), tmp_path / "x.parquet")

    class Usage:
        def __init__(self, folder):
            self.free = 2**28 + 2**20

    monkeypatch.setattr(shutil, "disk_usage", Usage)
    monkeypatch.setattr(os, "pwrite", None)
    ask = {"memory": LITTLE, "scratch": tmp_path}
    message = "262144 rows take 2.1 MB in"
    refused(OSError, message, lambda: open_data(tmp_path / "x.parquet", **ask))


def test_rows_too_wide_for_the_memory(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((300, 5000), dtype=np.float32))
    message = "x.npy has 5000 columns, so many that a few thousand rows take 18 MB"
    refused(ValueError, message, lambda: open_data(path, memory=LITTLE))
    assert open_data(path, "1?", memory=LITTLE).shape == (300, 10)


def with_long_footer(path):
    about = {"x": "x" * 2_350_000}
    pq.write_table(TABLE.replace_schema_metadata(about), path)


def with_large_pages(path):
    options = {"row_group_size": 10**7, "use_dictionary": False}
    pq.write_table(pa.table({"a": np.zeros(9 * 10**6)}), path, **LARGE_PAGES, **options)


def with_many_columns(path):
    path.write_text(",".join(f"c{i}" for i in range(9000)) + "\n")


def with_large_batch(path):
    feather.write_feather(pa.table({"a": np.zeros(9 * 10**6)}), path, chunksize=10**7)


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (with_long_footer, "x.parquet"),
        (with_large_pages, "x.parquet"),
        (with_many_columns, "x.csv"),
        (with_large_batch, "x.arrow"),
    ],
)
def test_a_part_too_large_is_told_with_numbers_that_belong_together(
    tmp_path, write, name
):
    path = tmp_path / name
    write(path)
    with pytest.raises(ValueError, match="may be taken at once") as found:
        open_data(path, memory=LITTLE)
    told = re.search(
        r"([\d.]+) MB.*, more than the ([\d.]+) MB that .* at least ([\d.]+ MB), or ",
        str(found.value),
    )
    assert 67.1 == float(told[2]) < float(told[3].split()[0])
    # What is asked for is enough: another, or no, error comes then.
    try:
        open_data(path, memory=told[3])
    except ValueError as error:
        assert "no rows" in str(error)


@pytest.mark.parametrize("deed", ["shorten", "change", "change unseen"])
def test_a_file_that_changes_while_it_is_read(tmp_path, deed):
    path = tmp_path / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=(2**16, 4)))
    os.utime(path, (0, 0))
    data = open_data(path, memory=LITTLE)
    left = 100

    def meanwhile(n_rows):
        nonlocal left
        left -= 1
        if left == 0 and deed == "shorten":
            os.truncate(path, 2**16)
        elif left == 0:
            with path.open("r+b") as file:
                file.seek(2**16)
                file.write(np.full(4, np.nan).tobytes())
            if deed == "change unseen":
                os.utime(path, (0, 0))

    data.on_rows = meanwhile
    km = KMeans(4, init="sampled-k-means++", random_state=0, tol=0.0)
    message = "has become shorter" if deed == "shorten" else "has changed since"
    refused(ValueError, message, lambda: km.fit(data))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (TABLE["a"], "a pyarrow ChunkedArray cannot be read"),
        (TABLE["a"].chunk(0), "a pyarrow DoubleArray cannot be read"),
        (TABLE.to_reader(), "a pyarrow RecordBatchReader cannot be read"),
        (TABLE.schema, "a pyarrow Schema cannot be read"),
        (TABLE[:0], "a pyarrow Table has no rows"),
        (TABLE.select([]), "a pyarrow Table has no columns"),
        (pa.table({"a": ["x"]}), "Column 'a' of a pyarrow Table holds text"),
        (pa.table([X[:, 0]] * 2, ["a", "a"]), "has 2 columns named 'a'"),
        (pa.table({"a": [1.0, None]}), "NaN at row 1, column 0 ('a')"),
        (ds.dataset(TABLE[:0]), "a pyarrow InMemoryDataset has no rows"),
    ],
    ids=str,
)
def test_objects_of_arrow_that_are_no_rows(given, message):
    refused(ValueError, message, lambda: KMeans(2).fit(given))


def too_short(path):
    """Write an Arrow file whose columns are declared longer than they are."""
    feather.write_feather(TABLE, path, compression="uncompressed")
    length, data = struct.pack("<q", 400), path.read_bytes()
    at = data.index(length)
    path.write_bytes(data[:at] + struct.pack("<q", 8) + data[at + 8 :])
    return path


def test_lengths_of_arrow_are_checked_whoever_reads(tmp_path):
    path = too_short(tmp_path / "x.arrow")
    refused(ValueError, "too small", lambda: list(passthrough(path, "a")))
    refused(ValueError, "too small", lambda: open_data(ds.dataset(path, format="ipc")))


def test_a_dataset_with_a_damaged_file(tmp_path):
    pq.write_table(TABLE, tmp_path / "1.parquet")
    (tmp_path / "2.parquet").write_bytes(b"PAR1")
    given = ds.dataset(tmp_path)
    refused(ValueError, "2.parquet", lambda: open_data(given))


@pytest.mark.parametrize(
    "given",
    [None, 5, object(), ["a.npy"], {"a": 1}, b"x.npy", [[1, 2], [3]], X * 1j],
    ids=repr,
)
def test_what_is_no_source(given):
    refused(
        ValueError, "X should be numbers in rows and columns", lambda: open_data(given)
    )


def test_tables_and_frames_give_the_fit_of_their_rows():
    expected = KMeans(3, random_state=0).fit(X).labels_
    sources = [TABLE, TABLE.to_batches()[0], ds.dataset(TABLE), batches(X)]
    for given in [*sources, pd.DataFrame(X), pl.DataFrame(X)]:
        assert np.array_equal(KMeans(3, random_state=0).fit(given).labels_, expected)
