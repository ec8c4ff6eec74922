"""The parts rows come through: reading ahead, raw files, memory, columns, gathering."""

import os
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from threadpoolctl import threadpool_limits

from cprime.blocks import LEAF_ROWS
from cprime.rows.column import Column
from cprime.sources import open_data
from cprime.sources.columns import choose
from cprime.sources.display import listed, quoted, reason, shown
from cprime.sources.guards.arrow_sizes import batch_sizes
from cprime.sources.guards.parquet_sizes import ParquetSizes
from cprime.sources.guards.thrift import DamagedError, TruncatedError, struct_at
from cprime.sources.memory import bytes_of, in_words, total_memory
from cprime.sources.npy import open_npy
from cprime.sources.passthrough import passthrough
from cprime.sources.prefetch import BUFFERS, read_ahead
from cprime.sources.row_file import OpenFile, RowFile
from cprime.sources.spill import collect_rows

X = np.random.default_rng(0).normal(size=(5 * LEAF_ROWS + 17, 3))
LITTLE = 2**20


# Reading ahead


@pytest.mark.parametrize("n_items", [0, 1, 2, 3, 50])
def test_what_is_read_ahead_comes_in_order(n_items):
    buffers = [np.empty(1) for _ in range(BUFFERS)]

    def read(item, buffer):
        buffer[:] = item
        return buffer

    found = [int(values[0]) for values in read_ahead(read, range(n_items), buffers)]
    assert found == list(range(n_items))


def test_the_next_item_is_read_while_one_is_in_use():
    started = [threading.Event() for _ in range(4)]

    def read(item, buffer):
        started[item].set()
        return item

    items = read_ahead(read, range(4), [np.empty(1)] * BUFFERS)
    assert next(items) == 0
    # In another thread, without anybody asking for it.
    assert started[1].wait(10)
    assert list(items) == [1, 2, 3]


def test_an_error_of_the_reader_comes_in_its_turn():
    def read(item, buffer):
        if item == 2:
            raise ValueError("two")
        return item

    items = read_ahead(read, range(5), [np.empty(1)] * BUFFERS)
    assert [next(items), next(items)] == [0, 1]
    with pytest.raises(ValueError, match="two"):
        next(items)


def test_a_reader_nobody_listens_to_ends():
    items = read_ahead(lambda item, buffer: item, range(10**9), [np.empty(1)] * 3)
    next(items)
    items.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("cprime-read")]


# Raw rows


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "raw"
    path.write_bytes(b"head" + X.tobytes())
    descriptor = os.open(path, os.O_RDWR)
    return RowFile(OpenFile(descriptor), X.shape, np.float64, offset=4, name="raw")


def test_raw_rows_are_read_where_they_lie(raw):
    assert np.array_equal(raw.read(0, len(X)), X)
    assert np.array_equal(raw.read(7, 9), X[7:9])
    assert raw.read(5, 5).shape == (0, 3)
    indices = np.array([4, 0, len(X) - 1, 4])
    assert np.array_equal(raw.take(indices), X[indices])
    assert np.array_equal(raw.mapped(), X)


def test_a_read_that_gives_less_than_asked_for_goes_on(raw, monkeypatch):
    whole = os.preadv

    def a_little(descriptor, buffers, offset):
        return whole(descriptor, [buffers[0][:11]], offset)

    monkeypatch.setattr(os, "preadv", a_little)
    assert np.array_equal(raw.read(3, 20), X[3:20])


def test_a_write_that_takes_less_than_given_goes_on(raw, monkeypatch):
    whole = os.pwrite

    def a_little(descriptor, buffer, offset):
        return whole(descriptor, buffer[:11], offset)

    monkeypatch.setattr(os, "pwrite", a_little)
    raw.write(-X[3:20], 3)
    assert np.array_equal(raw.read(2, 21), np.vstack([X[2], *-X[3:20], X[20]]))


def test_rows_that_are_not_there_are_named(raw):
    with pytest.raises(ValueError, match=f"raw has become shorter.* row {len(X)} "):
        raw.read(len(X) - 1, len(X) + 1)


def test_mapped_rows_are_a_copy_when_written_to(raw):
    raw.mapped()[0] = 99.0
    assert np.array_equal(raw.read(0, 1), X[:1])


def test_a_file_is_closed_with_its_last_rows(tmp_path):
    (tmp_path / "x").write_bytes(b"x")
    file = OpenFile.to_read(tmp_path / "x")
    descriptor = file.descriptor
    del file
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


# Memory


@pytest.mark.parametrize(
    ("memory", "n_bytes"),
    {
        2**22: 2**22,
        2e8: 200_000_000,
        1e16: 10**16,
        "200MB": 200_000_000,
        " 200 mb ": 200_000_000,
        "1.5GiB": 3 * 2**29,
        ".5G": 500_000_000,
        "4194304": 2**22,
        "3e6": 3_000_000,
        "2T": 2 * 10**12,
        "9" * 400: 2**60,
    }.items(),
)
def test_memory_in_words(memory, n_bytes):
    assert bytes_of(memory) == n_bytes


@pytest.mark.parametrize(
    "memory", ["", "MB", "1 XB", "-5MB", "1,5GB", "10%", "nan", True, float("inf")]
)
def test_what_is_no_memory(memory):
    with pytest.raises(ValueError, match="is not an amount of memory"):
        bytes_of(memory)


def test_memory_is_a_quarter_of_all_unless_said():
    assert bytes_of(None) == total_memory() // 4
    with pytest.raises(ValueError, match="at least 1048576 bytes"):
        bytes_of("1000kB")


@pytest.mark.parametrize(
    ("n_bytes", "words"),
    {
        0: "0 bytes",
        999: "999 bytes",
        1500: "1.5 kB",
        3.1e9: "3.1 GB",
        1e15: "1e+03 TB",
    }.items(),
)
def test_bytes_in_words(n_bytes, words):
    assert in_words(n_bytes) == words


# Words and columns


def test_names_from_outside_are_shown_in_one_short_line():
    assert shown("a/b.npy") == "a/b.npy"
    assert shown("a\nb\x1b[2J") == r"a\nb\x1b[2J"
    assert len(shown("x" * 10**6 + ".npy")) == 160
    assert shown("x" * 10**6 + ".npy").endswith("x.npy")
    assert quoted("a\nb") == r"'a\nb'" and len(quoted("x" * 10**6)) == 42
    assert listed([str(i) for i in range(10)]).endswith("'7' and 2 more")
    assert reason("first.\nsecond") == "first" and reason("") == "str"
    assert len(reason("x" * 10**6)) == 200 - 3


NAMES = ["a", "f1", "f2", "f*", "[f]", "b,c"]


@pytest.mark.parametrize(
    ("columns", "places"),
    [
        (None, [0, 1, 2, 3, 4, 5]),
        ("a", [0]),
        ("f2, a", [2, 0]),
        ("f?", [1, 2, 3]),
        ("f*", [3]),
        (["[f]"], [4]),
        (["b,c"], [5]),
        ("[a-b]*", [0, 5]),
        (["f1", "f?"], [1, 2, 3]),
        (("f1", "f1"), [1]),
        (np.array(["f1", "a"]), [1, 0]),
    ],
)
def test_columns_are_chosen_by_name_or_pattern(columns, places):
    assert choose(NAMES, columns, "it") == places


def test_choosing_among_very_many_columns_is_quick():
    names = [f"c{i}" for i in range(200_000)]
    assert choose(names, names[::-1], "it") == list(range(200_000))[::-1]
    with pytest.raises(ValueError, match="it has 2 columns named 'c7'"):
        choose([*names, "c7"], None, "it")


# Gathering


@pytest.mark.parametrize("over", [0, 1])
def test_batches_go_to_disk_when_they_take_more_than_memory(tmp_path, over):
    batches = [X[:100], X[100:100], X[100:250], X[250:]]
    rows = collect_rows(iter(batches), 3, np.float64, X.nbytes - over, tmp_path)
    assert isinstance(rows, RowFile) == bool(over)
    assert rows.shape == X.shape
    found = rows.read(0, len(X)) if over else rows
    assert np.array_equal(found, X)
    # Temporary files have no names.
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("memory", [0, 2**30])
def test_collected_rows_have_the_type_asked_for(tmp_path, memory):
    batches = [np.arange(6, dtype=np.int16).reshape(3, 2)] * 2
    rows = collect_rows(batches, 2, np.float32, memory, tmp_path)
    found = rows.read(0, 6) if memory == 0 else rows
    assert found.dtype == np.float32
    assert np.array_equal(found, np.concatenate(batches))


@pytest.mark.parametrize("memory", [0, 10**6])
def test_numbers_of_rows_are_the_same_in_memory_and_on_disk(tmp_path, memory):
    values = np.arange(5000, dtype=np.int32).reshape(1000, 5)
    column = Column(values.shape, np.int32, memory, tmp_path)
    for start in range(0, 1000, 300):
        column.put(values[start : start + 300], start)
    indices = np.array([999, 0, 4])
    assert column.width == 5
    assert np.array_equal(column.read(slice(7, 700)), values[7:700])
    assert np.array_equal(column.take(indices), values[indices])
    assert np.array_equal(column.array(), values)
    assert (column.array().base is None) == (memory > 0)


# Data


@pytest.mark.parametrize("memory", [2**20, 2**22, 2**24, 2**30])
@pytest.mark.parametrize("n_features", [1, 3, 32, 40])
def test_a_block_is_a_power_of_two_of_leaves(tmp_path, memory, n_features):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((10, n_features), dtype=np.float32))
    data = open_data(path, memory=memory)
    n_leaves, rest = divmod(data.block_rows, LEAF_ROWS)
    assert rest == 0 and n_leaves & (n_leaves - 1) == 0
    n_bytes = data.block_rows * n_features * 4
    # All buffers together are a fraction of the memory, as large as that allows.
    most = min(2**24, memory // (4 * BUFFERS))
    assert n_bytes <= most < 2 * n_bytes or n_leaves == 1


@pytest.mark.parametrize("n_threads", [1, 2, 7, 64])
def test_blocks_side_by_side_are_all_rows_within_the_memory(tmp_path, n_threads):
    wide = np.tile(X, (5, 4))
    np.save(tmp_path / "x.npy", wide)
    data = open_data(tmp_path / "x.npy", memory=2 * LITTLE)
    seen, held = [], {}
    data.on_rows = seen.append

    def compute(place, values):
        held[values.ctypes.data] = values.nbytes
        return values.copy()

    with threadpool_limits(n_threads, user_api="cprime"):
        places, parts = zip(*data.abreast(compute))
    assert np.array_equal(np.concatenate(parts), wide)
    assert [place.start for place in places] == list(np.cumsum([0, *seen])[:-1])
    assert seen == [len(part) for part in parts]
    assert len(held) <= n_threads
    # A fraction of the memory, unless a leaf takes more.
    leaf_bytes = LEAF_ROWS * wide[0].nbytes
    assert sum(held.values()) <= max(2 * LITTLE // 4, leaf_bytes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_side_by_side_are_scaled_like_all_others(tmp_path, dtype):
    np.save(tmp_path / "x.npy", np.tile(X, (5, 4)).astype(dtype))
    data = open_data(tmp_path / "x.npy", memory=LITTLE).standardized()
    parts = [part for _, part in data.abreast(lambda place, values: values.copy())]
    assert np.array_equal(np.concatenate(parts), data.load())


@pytest.mark.parametrize("memory", [LITTLE, None], ids=["on disk", "in memory"])
@pytest.mark.parametrize("n_rows", [None, 1000, 10**6])
def test_blocks_are_all_rows_in_order(tmp_path, memory, n_rows):
    wide = np.tile(X, (5, 4))
    np.save(tmp_path / "x.npy", wide)
    data = open_data(tmp_path / "x.npy", memory=memory)
    assert data.in_memory == (memory is None)
    seen = []
    data.on_rows = seen.append
    starts, parts = zip(*((start, part.copy()) for start, part in data.blocks(n_rows)))
    assert np.array_equal(np.concatenate(parts), wide)
    assert seen == [len(part) for part in parts]
    assert list(starts) == list(np.cumsum([0, *seen[:-1]]))
    assert len(set(seen[:-1])) <= 1


def test_the_same_rows_have_the_same_fingerprint(tmp_path):
    np.save(tmp_path / "x.npy", np.tile(X, (5, 4)))
    data = open_data(tmp_path / "x.npy", memory=LITTLE)
    found = data.fingerprint()
    assert found == open_data(np.tile(X, (5, 4))).fingerprint()
    changed = np.tile(X, (5, 4))
    changed[-1, -1] = np.nextafter(changed[-1, -1], 2.0)
    assert found != open_data(changed).fingerprint()
    assert found != open_data(changed.reshape(-1, 6)).fingerprint()


# What files say of their own sizes


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["<f4", ">f8", "<f2", "|i1", "<u8", "|b1"])
def test_heads_of_npy_files_are_as_numpy_writes_them(tmp_path, kind, order):
    rows = np.array(
        X[:9] > 0 if kind == "|b1" else np.abs(X[:9] * 9), kind, order=order
    )
    np.save(tmp_path / "x.npy", rows)
    npy = open_npy(tmp_path / "x.npy")
    assert (npy.shape, npy.dtype.str) == ((9, 3), np.dtype(kind).str)
    assert npy.by_columns == (order == "F")
    found = np.concatenate(list(npy.batches([2, 0])))
    assert np.array_equal(found, rows[:, [2, 0]])


@pytest.fixture
def parsed(monkeypatch):
    """Names of files whose footers are parsed."""
    names, footer = [], ParquetSizes._footer

    def noted(self, memory):
        names.append(Path(self._name).name)
        return footer(self, memory)

    monkeypatch.setattr(ParquetSizes, "_footer", noted)
    return names


def test_the_footer_of_a_parquet_file_is_parsed_once(tmp_path, parsed):
    pq.write_table(pa.table({"a": X[:, 0]}), tmp_path / "x.parquet")
    assert open_data(tmp_path / "x.parquet").n_rows == len(X)
    assert parsed == ["x.parquet"]


def test_a_parquet_file_that_was_replaced_is_parsed_again(tmp_path, parsed):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": X[:, 0]}), path)
    batches = passthrough(path, "a")
    pq.write_table(pa.table({"a": X[:9, 0]}), path)
    assert sum(batch.num_rows for batch in batches) == 9
    assert parsed == ["x.parquet"] * 2


def test_sizes_of_many_parquet_files_are_not_kept(tmp_path, parsed):
    for name in "ab":
        pq.write_table(pa.table({"a": X[:, 0]}), tmp_path / f"{name}.parquet")
    open_data(tmp_path)
    assert parsed == ["a.parquet", "b.parquet"] * 2


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_of_parquet_are_as_large_as_arrow_says(tmp_path, compression, version):
    table = pa.table({"a": np.zeros(20_000), "b": X[:, 0].repeat(2)[:20_000]})
    path = tmp_path / "x.parquet"
    options = {"compression": compression, "data_page_version": version}
    pq.write_table(table, path, use_dictionary=["a"], row_group_size=7000, **options)
    sizes = ParquetSizes(path, 2**30).largest_pages([0, 1], 2)
    metadata = pq.read_metadata(path)
    for j, size in enumerate(sizes):
        chunks = [metadata.row_group(i).column(j) for i in range(3)]
        whole = [c.total_uncompressed_size + c.total_compressed_size for c in chunks]
        assert 0 < size <= max(whole)
    # Column b has one page in every group.
    assert sizes[1] >= 7000 * 8 and sizes[1] > 10 * sizes[0]


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_batches_of_arrow_files_are_as_large_as_their_values(tmp_path, compression):
    path = tmp_path / "x.arrow"
    table = pa.table({"a": np.zeros(1000), "b": ["x"] * 1000, "c": X[:1000, 0]})
    table = table.append_column("d", table["b"].dictionary_encode())
    feather.write_feather(table, path, compression=compression, chunksize=400)
    sizes = batch_sizes(OpenFile.to_read(path))
    # The dictionary, then two batches of 400 rows and one of 200.
    assert len(sizes) == 4 and sizes[0] < 100
    for size, n_rows in zip(sizes[1:], (400, 400, 200)):
        expected = n_rows * (8 + 4 + 1 + 8 + 4)
        assert expected <= size <= expected + 300


def test_thrift_says_what_is_wrong_with_it():
    # A number in field 1, then a list of two structs in field 3.
    data = bytes.fromhex("15 06 29 2c 15 01 00 15 03 00 00")
    assert struct_at(data, 0, {1: {}, 3: {1: {}}}).fields == {
        1: 3,
        3: [{1: -1}, {1: -2}],
    }
    assert struct_at(data, 0, {}) == ({}, len(data))
    for end in range(len(data)):
        with pytest.raises(TruncatedError):
            struct_at(data[:end], 0, {})
    for wrong in ("1d 00", "15" + "ff" * 12, "1c" * 40, "19 fc ff ff ff ff 0f"):
        with pytest.raises((DamagedError, TruncatedError)):
            struct_at(bytes.fromhex(wrong), 0, {})


def test_scratch_goes_where_it_is_asked_for(monkeypatch, tmp_path):
    from cprime.sources.scratch import scratch_folder

    assert scratch_folder(tmp_path) == tmp_path
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert scratch_folder() == Path(tmp_path)
