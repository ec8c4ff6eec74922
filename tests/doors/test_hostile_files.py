"""Damaged and malicious data files: read correctly, or refused with one line.

Files are read in a process of its own, see `watched_reader`: a crash, a hang, another
error, a second line or too much memory fails the test, whatever else is expected.
"""

import datetime
import decimal
import gzip
import io
import os
import pickle
import socket
import struct
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from large_pages import LARGE_PAGES
from watched_reader import Reader

from cprime.sources.guards.thrift import struct_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 2))
TABLE = pa.table({"a": X[:, 0], "b": X[:, 1]})
HTML = "<script>alert(1)</script>"
# Is there if any file has made us run what is in it.
MARK = Path(tempfile.gettempdir()) / f"code-has-run-{os.getpid()}"
COMMAND = f"touch {MARK}"


class Evil:
    def __reduce__(self):
        return os.system, (COMMAND,)


@pytest.fixture(scope="module")
def reader():
    with Reader() as process:
        yield process


def check(reader, path, expected, name, **options):
    outcome = reader(path, **options)
    assert outcome.broken(name) == "", outcome
    assert not MARK.exists()
    if isinstance(expected, str):
        assert expected in outcome.message, outcome
    else:
        assert outcome.error is None, outcome
        assert tuple(outcome.shape) == expected, outcome
    return outcome


# Headers of .npy files


def npy(shape="(4, 2)", kind="'<f8'", order="False", body=b"\0" * 64, **more):
    head = f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}, }}"
    return raw_npy(head, body, **more)


def raw_npy(head, body=b"\0" * 64, version=(1, 0), length=None):
    head = head.encode("latin1") + b"\n"
    length = len(head) if length is None else length
    packed = struct.pack("<H" if version == (1, 0) else "<I", length)
    return b"\x93NUMPY" + bytes(version) + packed + head + body


NOT_NUMBERS = "not numbers that can be clustered"
GOOD_NPY = npy()
NPY = {
    "nothing": (b"", "does not begin as one"),
    "only magic": (b"\x93NUMPY", "format version"),
    "ends in the length": (GOOD_NPY[:9], "ends within its head"),
    "ends in the head": (GOOD_NPY[:50], "ends within its head"),
    "ends after the head": (GOOD_NPY[:-64], "64 bytes, but holds 0"),
    "ends in the last value": (GOOD_NPY[:-1], "but holds 63"),
    "has more than it says": (GOOD_NPY + b"more", (4, 2)),
    "four gigabytes in 300 bytes": (npy("(100000000, 5)"), "4000000000 bytes, but"),
    "negative": (npy("(-4, 2)"), "shape (-4, 2)"),
    "twice negative": (npy("(-4, -2)"), "shape (-4, -2)"),
    "overflowing": (npy(f"({2**61}, 8)"), "not rows and columns"),
    "thousands of digits": (npy(f"(1{'0' * 5000}, 2)"), "not rows and columns"),
    "no rows of very many columns": (npy(f"(0, {10**17})"), "no rows"),
    "very many rows of nothing": (npy(f"({10**17}, 0)"), "no columns"),
    "too many columns": (npy("(1, 3000000)"), "more than can be clustered"),
    "no rows": (npy("(0, 2)"), "no rows"),
    "a number": (npy("()"), "shape ()"),
    "one column": (npy("(4,)"), (4, 1)),
    "three axes": (npy("(2, 2, 2)"), "(2, 2, 2), not rows and columns"),
    "texts in the shape": (npy("('4', 2)"), "no 'shape'"),
    "fractions in the shape": (npy("(4.0, 2)"), "no 'shape'"),
    "wrong magic": (b"\x93NUMPX" + GOOD_NPY[6:], "does not begin as one"),
    "version 2": (npy(version=(2, 0)), (4, 2)),
    "version 3": (npy(version=(3, 0)), (4, 2)),
    "version 9": (npy(version=(9, 9)), "[9, 9] is not supported"),
    "a head of 4 GB": (npy(version=(2, 0), length=2**32 - 1), "too long"),
    "a head of 1 MB": (raw_npy(" " * 2**20, version=(2, 0)), "too long"),
    "objects": (npy("(1, 1)", "'|O'", body=pickle.dumps(Evil())), NOT_NUMBERS),
    "records": (npy(kind="[('a', '<f8')]"), "holds records"),
    "text": (npy(kind="'<U4'"), NOT_NUMBERS),
    "dates": (npy(kind="'<M8[s]'"), NOT_NUMBERS),
    "complex": (npy(kind="'<c16'"), NOT_NUMBERS),
    "long double": (npy("(2, 2)", "'<f16'"), NOT_NUMBERS),
    "an array in a type": (npy(kind="'(99999,99999)f4'"), NOT_NUMBERS),
    "escapes in a type": (npy(kind="'<\x1b[2Jf8'"), r"'<\x1b[2Jf8'"),
    "half": (npy(kind="'<f2'"), (4, 2)),
    "truths": (npy(kind="'|b1'"), (4, 2)),
    "big end first": (npy(kind="'>f4'"), (4, 2)),
    "by columns": (npy(order="True"), (4, 2)),
    "no order": (npy(order="1"), "no 'fortran_order'"),
    "code": (raw_npy(f"__import__('os').system('{COMMAND}')"), "head is not one"),
    "code as a type": (npy(kind=f"__import__('os').system('{COMMAND}')"), "no 'descr'"),
    "power": (raw_npy("9**9**9**9"), "head is not one"),
    "nested": (raw_npy("[" * 4000 + "]" * 4000), "head is not one"),
    "not closed": (raw_npy("{'descr': '<f8', 'shape': (4, 2)"), "head is not one"),
    "unary": (raw_npy("-" * 9000 + "1"), "head is not one"),
    "zeros": (raw_npy("\0" * 100), "head is not one"),
    "two shapes": (npy("(4, 2), 'shape': (1, 1)"), "no 'shape'"),
    "a sum": (npy("(4,) + (2,)"), "head is not one"),
    "of old Python": (npy("(4L, 2L)"), (4, 2)),
}


# Parquet


def parquet(table, **options):
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def column(values):
    """Return a column of text, dates, ... beside one of numbers."""
    return parquet(pa.table({"a": pa.array(values), "b": np.arange(len(values)) / 3}))


def footer(field, size, item):
    """Return a Parquet file that is a footer with a list of so many items."""
    head = b"\x15\x04\x19\x2c\x48\x01r\x15\x02\x00\x15\x0a\x25\x00\x18\x01a\x00\x16\x02"
    n = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])
    before, after = {"groups": (b"\x19", b"\0"), "columns": (b"\x19\x1c\x19", b"\0\0")}[
        field
    ]
    data = head + before + b"\xfc" + n + item * size + after
    return b"PAR1" + data + struct.pack("<I", len(data)) + b"PAR1"


def overlapping(n_groups):
    """Return a Parquet file with the same group of rows again and again."""
    data = parquet(pa.table({"a": X[:, 0].repeat(40)}), use_dictionary=False)
    length = int.from_bytes(data[-8:-4], "little")
    before, foot = data[: -8 - length], data[-8 - length : -8]
    # A list of one struct, which begins with a list of one.
    at = foot.index(b"\x19\x1c\x19\x1c")
    end = struct_at(foot, at + 2, {}).end
    group = foot[at + 2 : end] * n_groups
    foot = foot[:at] + b"\x19\xfc" + bytes([n_groups]) + group + foot[end:]
    return before + foot + struct.pack("<I", len(foot)) + b"PAR1"


def page_of(n_bytes):
    """Return a Parquet file whose page says that it becomes so large."""
    data = parquet(pa.table({"a": np.arange(100.0)}), use_dictionary=False)
    # Type, unpacked size (zigzag), as they stand at the start of the first page.
    assert data[4:7] == b"\x15\x00\x15"
    number, packed = 2 * n_bytes, b""
    while number > 127:
        number, packed = number >> 7, packed + bytes([number & 127 | 128])
    packed += bytes([number])
    end = next(i for i in range(7, 20) if data[i] < 128) + 1
    # What is longer now is taken off the end of the page: sizes stay as declared.
    page = data[4:7] + packed + data[end:]
    start = data.index(b"PAR1", 4) - int.from_bytes(data[-8:-4], "little") - 4
    return b"PAR1" + page[: start - 4] + data[start:]


def of_more_rows(table):
    """Return a Parquet file that declares one row more than there are."""
    data = parquet(table)
    at = data.index(
        b"\x16" + bytes([2 * len(table)]), -int.from_bytes(data[-8:-4], "little")
    )
    return data[: at + 1] + bytes([2 * len(table) + 2]) + data[at + 2 :]


BOMB = pa.table({"a": np.zeros(2**23), "b": np.zeros(2**23)})
MANY = BOMB[: 2**20]
BIG_PAGES = {
    "use_dictionary": False,
    **LARGE_PAGES,
    "row_group_size": 2**23,
    "write_statistics": False,
}
GOOD = parquet(TABLE)
DAMAGED = "is damaged"
PARQUET = {
    "nothing": (b"", DAMAGED),
    "one byte": (b"P", DAMAGED),
    "ends at once": (GOOD[:4], DAMAGED),
    "ends in a page": (GOOD[:60], DAMAGED),
    "ends in the footer": (GOOD[:-100], DAMAGED),
    "ends in the last byte": (GOOD[:-1], DAMAGED),
    "noise": (RNG.bytes(3000), DAMAGED),
    "noise in a frame": (b"PAR1" + RNG.bytes(3000) + b"PAR1", DAMAGED),
    "footer of 2 GB": (GOOD[:-8] + b"\xff\xff\xff\x7fPAR1", "longer than itself"),
    "footer of 4 GB": (GOOD[:-8] + b"\xff\xff\xff\xffPAR1", "longer than itself"),
    "encrypted": (GOOD[:-4] + b"PARE", "encrypted"),
    "pages gone": (GOOD[:4] + b"\xff" * 60 + GOOD[64:], DAMAGED),
    "footer of zeros": (b"PAR1" + b"\0" * 9 + b"\x09\0\0\0PAR1", "x.parquet"),
    "a million groups": (footer("groups", 600_000, b"\0"), "cannot be read"),
    "a million columns": (footer("columns", 600_000, b"\0"), "cannot be read"),
    "empty columns": (footer("columns", 50_000, b"\x3c\0\0"), "cannot be read"),
    "a long footer": (
        parquet(TABLE.replace_schema_metadata({"x": "x" * 2**20})),
        "The footer of",
    ),
    "the same group again and again": (overlapping(90), "columns overlap"),
    "more rows declared": (of_more_rows(TABLE), "declares 51 rows and has 50"),
    "a page of 2 GB": (page_of(2**31 - 1), "Pages of"),
    "zstd bomb": (parquet(BOMB, compression="zstd", **BIG_PAGES), "134 MB together"),
    "brotli bomb": (parquet(BOMB, compression="brotli", **BIG_PAGES), "134 MB"),
    "few bytes of many rows": (parquet(MANY, compression="zstd"), (2**20, 2)),
    "no rows": (parquet(TABLE[:0]), "no rows"),
    "no columns": (parquet(TABLE.select([])), "no columns"),
    "text": (column(["x"] * 5), "Column 'a' of x.parquet holds text"),
    "dates": (column([datetime.datetime(2020, 1, 1)] * 5), "type timestamp"),
    "lists": (column([[1.0]] * 5), "values of type list"),
    "structs": (column([{"x": 1.0}] * 5), "values of type struct"),
    "words": (parquet(pa.table({"a": pa.array(["x"]).dictionary_encode()})), "dictio"),
    "only nulls": (column([None] * 5), "values of type null"),
    "nulls": (column([1.0, None, 3.0]), "NaN at row 1, column 0 ('a')"),
    "decimals": (column([decimal.Decimal("1.5")] * 5), (5, 2)),
    "truths": (column([True, False] * 5), (10, 2)),
    "same names": (parquet(pa.table([X[:, 0]] * 2, ["a", "a"])), "2 columns named 'a'"),
    "html": (parquet(pa.table({HTML: ["x"]})), f"Column '{HTML}'"),
    "newline": (parquet(pa.table({"a\nb": ["x"]})), r"Column 'a\nb'"),
    "zero byte": (parquet(pa.table({"a\0b": ["x"]})), r"Column 'a\x00b'"),
    "long name": (parquet(pa.table({"x" * 10**5: [np.nan] * 3})), "xxx...'"),
    "no name": (parquet(pa.table({"": X[:, 0]})), (50, 1)),
}


# Arrow


def arrow(table, **options):
    file = io.BytesIO()
    feather.write_feather(table, file, **options)
    return file.getvalue()


def with_number(data, number, other, which):
    """Return these bytes with one 64-bit number, if it occurs, exchanged."""
    packed = struct.pack("<q", number)
    places = [i for i in range(len(data)) if data[i : i + 8] == packed]
    at = places[which]
    return data[:at] + struct.pack("<q", other) + data[at + 8 :]


def stream(table):
    file = io.BytesIO()
    with ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


EVIL = pa.schema(
    [
        pa.field(
            "a",
            pa.float64(),
            metadata={
                "ARROW:extension:name": "arrow.py_extension_type",
                "ARROW:extension:metadata": pickle.dumps(Evil()),
            },
        )
    ]
)
PLAIN = arrow(TABLE, compression="uncompressed")
MIXED = TABLE.append_column("t", pa.array(["x", "y"] * 25).dictionary_encode())
ARROW = {
    "nothing": (b"", DAMAGED),
    "noise": (RNG.bytes(3000), DAMAGED),
    "ends early": (PLAIN[:-1], DAMAGED),
    "ends in a batch": (PLAIN[:500], DAMAGED),
    "footer of 2 GB": (PLAIN[:-10] + b"\xff\xff\xff\x7fARROW1", DAMAGED),
    "a stream": (stream(TABLE), "Not an Arrow file"),
    "batch of more rows": (with_number(PLAIN, 50, 51, 0), DAMAGED),
    "column of more rows": (with_number(PLAIN, 50, 2**40, 1), DAMAGED),
    "column of fewer than no rows": (with_number(PLAIN, 50, -1, 1), DAMAGED),
    "buffer too short": (with_number(PLAIN, 400, 8, 0), "too small"),
    "buffer too long": (with_number(PLAIN, 400, 2**40, 0), "not where it says"),
    "buffer negative": (with_number(PLAIN, 400, -8, 0), DAMAGED),
    "zstd bomb": (arrow(BOMB, compression="zstd", chunksize=2**23), "takes 134 MB"),
    "lz4 bomb": (arrow(BOMB, compression="lz4", chunksize=2**23), "takes 134 MB"),
    "many rows": (arrow(MANY, compression="zstd"), (2**20, 2)),
    "pickle in the schema": (arrow(pa.table([X[:, 0]], EVIL)), (50, 1)),
    "words": (arrow(MIXED), "values of type dictionary"),
    "no rows": (arrow(TABLE[:0]), "no rows"),
}


# Text

ROWS = "".join(f"{i},{i * i}\n" for i in range(20))
PACKED = gzip.compress(f"a,b\n{ROWS}".encode())
TEXT = {
    "nothing.csv": ("", "first line is empty"),
    "blank.csv": ("\n1,2\n", "first line is empty"),
    "names only.csv": ("a,b\n", "no rows"),
    "names without end.csv": ("a,b", "no rows"),
    "quote not closed.csv": ('a,b\n1,"2\n3,4\n', "in line 2, not a number"),
    "quote in names.csv": ('"a,b\n1,2\n', "cannot be divided"),
    "newline in names.csv": ('"a\nb",c\n1,2\n', "cannot be divided"),
    "too many columns.csv": ("a,b\n1,2\n3,4,5\n", "Line 3"),
    "too few columns.csv": ("a,b\n1,2\n3\n", "Line 3"),
    "ragged late.csv": ("a,b\n" + ROWS + "1\n", "Line 22"),
    "zero byte.csv": ("a,b\n1,\x002\n", r"holds '\x002' in line 2"),
    "zeros.csv": ("\0" * 5000, "no rows"),
    "mark.csv": ("\ufeffa,b\n" + ROWS, (20, 2)),
    "numbers with mark.csv": ("\ufeff" + ROWS, (20, 2)),
    "utf-16.csv": (ROWS.encode("utf-16"), "not a CSV file in UTF-8"),
    "latin names.csv": (b"\xe4,b\n1,2\n", "not a CSV file in UTF-8"),
    "latin value.csv": (b"a,b\n1,\xe4\n", "Column 'b'"),
    "latin line of one column.csv": (b"a,b\n1,2\n\xe4\n", "Line 3"),
    "windows.csv": ("a,b\r\n" + ROWS.replace("\n", "\r\n"), (20, 2)),
    "old mac.csv": ("a,b\r1,2\r3,4\r", "cannot be divided"),
    "text.csv": ("a,b\n1,2\n3,four\n", "Column 'b' of"),
    "words of errors.csv": (
        'a,b\n1,"Row #7: Expected 2 columns, got 3"\n',
        "holds 'Row #7: Expected 2 columns, got 3' in line 2",
    ),
    "thousands.csv": ('a,b\n"1,000",2\n', "holds '1,000' in line 2"),
    "comma for point.csv": ("a;b\n1,5;2\n", "holds '1,5' in line 2"),
    "not a number.csv": ("a,b\nnan,2\n3,4\n", "NaN at line 2, column 0 ('a')"),
    "infinite.csv": ("a,b\n1,2\n3,-inf\n", "infinity at line 3, column 1 ('b')"),
    "beyond.csv": ("a,b\n1,2\n1e999,4\n", "infinity at line 3, column 0 ('a')"),
    "empty value.csv": ("a,b\n1,\n3,4\n", "NaN at line 2, column 1 ('b')"),
    "same names.csv": ("a,a\n1,2\n", "2 columns named 'a'"),
    "html.csv": (f"{HTML},b\nx,2\n", f"Column '{HTML}'"),
    "escapes.csv": ("a,b\n\x1b[2J,2\n", r"holds '\x1b[2J'"),
    "long value.csv": ("a,b\n" + "x" * 10**5 + ",2\n", "xxx...' in line 2"),
    "long name.csv": ("x" * 10**5 + ",b\n1,y\n", "Column 'b'"),
    "very long name.csv": ("x" * 10**6 + ",b\n1,2\n", "cannot be divided"),
    "one line.csv": ("1" * 2**24, "first line does not end"),
    "one long row.csv": ("a,b\n1," + "2" * 2**22, "a line that does not end"),
    "many columns.csv": ("1," * 10**5, "100001 columns"),
    "many names.csv": (",".join(["c"] * 5000) + "\n", "5000 columns named 'c'"),
    "names or a row.csv": ("0,1\n" * 5 + "1,0\n" * 20, "may hold the names"),
    "names or odd values.csv": ("\x1b[2J,1.5\n2.5,3.5\n", r"'\x1b[2J', '1.5', may"),
    "names or long values.csv": ("x" * 10**5 + ",1.5\n1.5,2\n", "xxx...', '1.5', may"),
    "long number.csv": ("1" * 10**5 + ",2\n3,4\n", "infinity at line 1, column 0"),
    "numbers, then one line.csv": ("0,1\n" + "1" * 2**24, "may hold the names"),
    "numbers, then a quote.csv": ('0,1\n"' + "1,2\n" * 2**20, "may hold the names"),
    "packed.csv.gz": (PACKED, (20, 2)),
    "not packed.csv.gz": (ROWS, "Not a gzipped file"),
    "ends early.csv.gz": (PACKED[:40], DAMAGED),
    "ends in the sum.csv.gz": (PACKED[:-3], DAMAGED),
    "other sum.csv.gz": (PACKED[:-8] + b"1234" + PACKED[-4:], DAMAGED),
    "more behind.csv.gz": (PACKED + b"more", DAMAGED),
    "bomb of one line.csv.gz": (gzip.compress(b"1" * 10**8, 1), "does not end"),
    "bomb below numbers.csv.gz": (
        gzip.compress(b"0,1\n" + b"1" * 10**8, 1),
        "may hold the names",
    ),
    "bomb of rows.csv.gz": (gzip.compress(b"1,2\n" * 2**20, 1), (2**20, 2)),
    "packed, named otherwise.csv": (PACKED, "not a CSV file in UTF-8"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n" + RNG.bytes(500), "not a CSV file in UTF-8"),
}


# Columns, memory and scratch that are asked for

ASKED = [
    ({"columns": "z"}, "no column 'z': it has 'a', 'b'"),
    ({"columns": ""}, "no column ''"),
    ({"columns": []}, "columns=[] should be names"),
    ({"columns": [5]}, "columns=[5] should be names"),
    ({"columns": 5}, "columns=5 should be names"),
    ({"columns": ["a", "a", "*"]}, (50, 2)),
    ({"columns": "b"}, (50, 1)),
    ({"columns": "*" * 10**4 + "z"}, "***...'"),
    ({"memory": "much"}, "memory='much' is not an amount"),
    ({"memory": "-1"}, "memory='-1' is not an amount"),
    ({"memory": "9" * 400}, (50, 2)),
    ({"memory": 10}, "memory=10 is too little"),
    ({"memory": True}, "memory=True is not an amount"),
    ({"memory": "x" * 10**6}, "is not an amount"),
    ({"scratch": "/nowhere/at/all"}, "scratch='/nowhere/at/all' is not a folder"),
    ({"scratch": "/dev/null"}, "is not a folder"),
    ({"scratch": "a\0b"}, "is not a folder"),
    ({"scratch": 5}, "scratch='5' is not a folder"),
]


def cases():
    for ending, table in (("npy", NPY), ("parquet", PARQUET), ("arrow", ARROW)):
        for name, (content, expected) in table.items():
            yield f"x.{ending}", name, content, expected
    for file, (content, expected) in TEXT.items():
        yield file, file, content, expected


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        pytest.param(file, content, expected, id=f"{file.partition('.')[2]}: {name}")
        for file, name, content, expected in cases()
    ],
)
def test_a_file_is_read_or_refused_with_one_line(
    reader, tmp_path, file, content, expected
):
    path = tmp_path / file
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    check(reader, path, expected, file)


@pytest.mark.parametrize(("options", "expected"), ASKED, ids=lambda o: str(o)[:40])
def test_what_is_asked_for_is_checked(reader, tmp_path, options, expected):
    pq.write_table(TABLE, tmp_path / "x.parquet")
    check(reader, tmp_path / "x.parquet", expected, "", **options)


def test_what_is_read_is_what_was_written(reader, tmp_path):
    np.save(tmp_path / "x.npy", X)
    expected = reader(tmp_path / "x.npy").fingerprint
    for name, content in {
        "x.parquet": GOOD,
        "x.arrow": PLAIN,
        "lz4.arrow": arrow(TABLE),
        "x.csv": "\n".join(f"{a!r},{b!r}" for a, b in X.tolist()).encode(),
    }.items():
        (tmp_path / name).write_bytes(content)
        assert check(reader, tmp_path / name, (50, 2), "").fingerprint == expected


def test_a_name_with_signs_of_a_pattern_is_itself(reader, tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"[ab]": X[:, 0], "a": ["x"] * 50, "*": X[:, 1]}), path)
    check(reader, path, (50, 2), "", columns=["[ab]", "*"])
    check(reader, path, "'a' of x.parquet holds text", "", columns="?")


def test_columns_of_one_path_are_told_apart(reader, tmp_path):
    inner = pa.array([{"b": 7.0}] * 50)
    pq.write_table(pa.table({"a.b": X[:, 0], "a": inner}), tmp_path / "x.parquet")
    np.save(tmp_path / "x.npy", X[:, :1])
    found = check(reader, tmp_path / "x.parquet", (50, 1), "", columns=["a.b"])
    assert found.fingerprint == reader(tmp_path / "x.npy").fingerprint


def make_folder(folder, kind):
    folder.mkdir()
    if kind != "empty":
        (folder / "1.parquet").write_bytes(GOOD)
    if kind == "other columns":
        pq.write_table(TABLE.rename_columns(["a", "c"]), folder / "2.parquet")
    elif kind == "other types":
        pq.write_table(pa.table({"a": ["x"], "b": [1.0]}), folder / "2.parquet")
    elif kind == "damaged":
        (folder / "2.parquet").write_bytes(GOOD[:-5])
    elif kind == "loop":
        (folder / "again").symlink_to(folder)
        (folder / "2.parquet").symlink_to(folder / "2.parquet")
    elif kind == "no files":
        os.mkfifo(folder / "2.parquet")
        (folder / "3.parquet").mkdir()
        (folder / "4.parquet").symlink_to("/dev/zero")
    elif kind == "both kinds":
        (folder / "2.arrow").write_bytes(PLAIN)
    elif kind == "wider":
        pq.write_table(
            pa.table({"a": X[:9, 0].astype("f4"), "b": [1] * 9}), folder / "0.parquet"
        )


@pytest.mark.parametrize(
    ("kind", "expected"),
    {
        "empty": "holds no .parquet or .arrow files",
        "other columns": "2.parquet has other columns",
        "other types": "Column 'a' of 2.parquet holds text",
        "damaged": "2.parquet is damaged",
        "loop": (50, 2),
        "no files": (50, 2),
        "both kinds": (100, 2),
        "wider": (59, 2),
    }.items(),
)
@pytest.mark.parametrize("name", ["rows", "rows.npy"])
def test_folders(reader, tmp_path, name, kind, expected):
    make_folder(tmp_path / name, kind)
    check(reader, tmp_path / name, expected, "")


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "missing.npy": "No such file or directory",
        "missing\n<b>.npy": r"missing\n<b>.npy cannot be opened",
        "x" * 300 + ".npy": "File name too long",
        "zero\0byte.npy": "embedded null",
        "pipe.npy": "neither a file nor a folder",
        "pipe.csv": "neither a file nor a folder",
        "socket.npy": "neither a file nor a folder",
        "zeros.npy": "neither a file nor a folder",
        "loop.npy": "symbolic links",
        "other.txt.zip": "unsupported file type",
        "new\nline\x1b[2J.csv": r"new\nline\x1b[2J.csv",
    }.items(),
    ids=lambda name: repr(name)[:24],
)
def test_what_is_no_file(reader, tmp_path, name, expected):
    path = tmp_path / name
    if name.startswith("pipe"):
        os.mkfifo(path)
    elif name.startswith("socket"):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    elif name.startswith("zeros"):
        path.symlink_to("/dev/zero")
    elif name.startswith("loop"):
        path.symlink_to(path)
    elif name.startswith(("other", "new")):
        path.write_text("a\nx\n")
    check(reader, path, expected, "")


@pytest.mark.parametrize("ending", ["npy", "csv", "parquet", "arrow"])
def test_names_of_any_bytes(reader, tmp_path, ending):
    content = {"npy": GOOD_NPY, "csv": b"1,2\n3,4", "parquet": GOOD, "arrow": PLAIN}
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n." + ending.encode()))
    path.write_bytes(content[ending])
    assert reader(path).broken() == "" and reader(path).error is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be someone else")
@pytest.mark.parametrize("name", ["x.npy", "x.parquet", "folder"])
def test_what_may_not_be_read(reader, tmp_path, name):
    path = tmp_path / name
    make_folder(path, "good") if name == "folder" else path.write_bytes(GOOD)
    for part in [path, *path.glob("*")]:
        part.chmod(0)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    check(reader, path, "cannot be opened: Permission denied", name, uid=65534)
