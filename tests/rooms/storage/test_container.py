"""A file is whole or refused, and is written whole or not at all."""

import errno
import hashlib
import json
import os
import stat
import tracemalloc

import numpy as np
import pytest

from cprime.storage import atomic, container
from cprime.storage.container import MAGIC, PREFIX, Blocks
from cprime.storage.header import LONGEST

HEADER = {"name": "Zoë", "tol": 1e-4, "steps": [1, 2]}
ARRAYS = {
    "means": np.arange(6.0).reshape(2, 3),
    "trace_.changed": np.arange(5),
    "none": np.zeros((7, 0), dtype=np.int32),
    "one": np.array(1.5, dtype=np.float32),
    "flags": np.array([True, False]),
}


def read(path):
    with container.open_file(path) as file:
        arrays = {name: stored.load() for name, stored in file.arrays.items()}
        return file.header, arrays


def bytes_of(header, arrays=b"", version=1, header_length=None, length=None):
    """Return a file with a correct checksum, whatever else it says."""
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    start = PREFIX.size + len(content)
    body = content + bytes(-start % 64 if arrays else 0) + arrays
    prefix = PREFIX.pack(
        MAGIC,
        version,
        0,
        len(content) if header_length is None else header_length,
        PREFIX.size + len(body) + 32 if length is None else length,
    )
    return prefix + body + hashlib.sha256(prefix + body).digest()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file.cprime"
    container.write(path, "the file", HEADER, ARRAYS)
    return path


def test_what_was_written_is_read(path):
    header, arrays = read(path)
    assert header.pop("cprime") and header == HEADER
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_the_format_is_what_its_description_says(path):
    content = path.read_bytes()
    magic, version, zero, header_length, length = PREFIX.unpack(content[:32])
    assert (magic, version, zero) == (b"\x89cprime\n", 1, 0)
    assert length == len(content)
    assert json.loads(content[32 : 32 + header_length])["name"] == "Zoë"
    assert content[-32:] == hashlib.sha256(content[:-32]).digest()
    start = -(-(32 + header_length) // 64) * 64
    np.testing.assert_array_equal(
        np.frombuffer(content[start : start + 48], "<f8"), np.arange(6.0)
    )


def test_an_array_is_written_and_read_in_parts(tmp_path):
    K = np.arange(20, dtype=np.int32).reshape(10, 2)
    blocks = Blocks((10, 2), "<i4", (K[i : i + 3] for i in range(0, 10, 3)))
    container.write(tmp_path / "K", "it", {}, {"K": blocks})
    with container.open_file(tmp_path / "K") as file:
        stored = file.arrays["K"]
        assert [len(part) for part in stored.parts(4)] == [4, 4, 2]
        np.testing.assert_array_equal(np.concatenate(list(stored.parts(4))), K)
        np.testing.assert_array_equal(stored.load(), K)


def test_parts_that_do_not_add_up_leave_the_old_file(path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="not of shape"):
        container.write(
            path, "it", {}, {"K": Blocks((9,), "<i4", [np.zeros(8, dtype=np.int32)])}
        )
    assert path.read_bytes() == before and os.listdir(path.parent) == [path.name]


def test_every_truncation_and_every_altered_byte_is_refused(path):
    content = path.read_bytes()
    wrong = path.with_name("wrong")
    for cut in range(len(content)):
        wrong.write_bytes(content[:cut])
        with pytest.raises(ValueError, match=r"^Cannot read '.*wrong': it is "):
            read(wrong)
    for place in range(len(content)):
        altered = bytearray(content)
        altered[place] ^= 1 << place % 8
        wrong.write_bytes(altered)
        with pytest.raises(ValueError, match=r"^Cannot read ") as caught:
            read(wrong)
        assert type(caught.value) is ValueError and "\n" not in str(caught.value)


NESTED = b'{"cprime":"1","arrays":[],"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"PK\x03\x04" + bytes(100), "not a cprime file"),
        (b"\x80\x04\x95cos\nsystem\n.", "not a cprime file"),
        (bytes_of({}, version=7), "format 7, written by a newer cprime.*upgrade"),
        (bytes_of({"cprime": "9.1"}, version=2), "format 2, written by cprime 9.1,"),
        (bytes_of({"cprime": "\x1b[2J"}, version=2), "by a newer cprime"),
        (bytes_of({}, version=0), "no format 0"),
        (bytes_of({}, header_length=2**63), "first bytes"),
        (bytes_of({}, header_length=LONGEST), "damaged"),
        (bytes_of({}, length=2**64 - 1), "cut off"),
        (bytes_of({"arrays": []}) + b"!", "damaged"),
        (bytes_of({}), "does not list its arrays"),
        (bytes_of([]), "not an object"),
        (bytes_of(b"\xff\xfe{}"), "not UTF-8"),
        (bytes_of(b'{"arrays": [], "a": '), "not JSON"),
        (bytes_of(b'{"arrays": [], "arrays": []}'), "twice"),
        (bytes_of(b'{"arrays": [], "a": NaN}'), "NaN"),
        (bytes_of(b'{"arrays": [], "a": 1e999}'), "not a finite number"),
        (bytes_of(b'{"arrays": [], "a": 18446744073709551616}'), "64 bits"),
        (bytes_of(b'{"arrays": [], "a": ' + b"9" * 10_000 + b"}"), "64 bits"),
        (bytes_of(b'{"arrays": [], "a": "\\ud800"}'), "not Unicode"),
        (bytes_of(NESTED), "nested too deeply"),
        (bytes_of(b'{"arrays": [], "a": ' + b"[" * 30 + b"]" * 30 + b"}"), "deeply"),
        (bytes_of({"arrays": [["a", "<f8", [2]]]}, bytes(8)), "the wrong length"),
        (bytes_of({"arrays": [["a", "<f8", [1]]]}, bytes(16)), "the wrong length"),
        (bytes_of({"arrays": [["a", "<f8", [2**40]]]}, bytes(8)), "the wrong length"),
        (bytes_of({"arrays": [["a", "<f8", [2**63]]]}, bytes(8)), "any memory"),
        (bytes_of({"arrays": [["a", "<f8", [0, 2**62]]]}), "any memory"),
        (bytes_of({"arrays": [["a", "<f8", [-1]]]}, bytes(8)), "possible shape"),
        (bytes_of({"arrays": [["a", "<f8", [1.0]]]}, bytes(8)), "possible shape"),
        (bytes_of({"arrays": [["a", "<f8", [True]]]}, bytes(8)), "possible shape"),
        (bytes_of({"arrays": [["a", "<f8", [1] * 9]]}, bytes(8)), "possible shape"),
        (bytes_of({"arrays": [["a", "<f8", 1]]}, bytes(8)), "possible shape"),
        (bytes_of({"arrays": [["a", "|O", [1]]]}, bytes(8)), "of an unknown type"),
        (bytes_of({"arrays": [["a", ["<f8"], [1]]]}, bytes(8)), "of an unknown type"),
        (bytes_of({"arrays": [["a", "<f8", [1], 99]]}, bytes(8)), "by name, type"),
        (bytes_of({"arrays": [{"name": "a"}]}, bytes(8)), "by name, type"),
        (bytes_of({"arrays": [["a", "<f8", [1]]] * 2}, bytes(72)), "twice"),
        (bytes_of({"arrays": [["a b", "<f8", [1]]]}, bytes(8)), "not a valid name"),
        (bytes_of({"arrays": [["../a", "<f8", [1]]]}, bytes(8)), "not a valid name"),
        (bytes_of({"arrays": [["", "<f8", [1]]]}, bytes(8)), "not a valid name"),
        (bytes_of({"arrays": [[None, "<f8", [1]]]}, bytes(8)), "not a valid name"),
        (bytes_of({"arrays": [["é", "<f8", [1]]]}, bytes(8)), "not a valid name"),
        (bytes_of({"arrays": [["a" * 300, "<f8", [1]]]}, bytes(8)), "not a valid name"),
        (bytes_of({"arrays": [["a", "|b1", [2]]]}, b"\x01\x02"), "booleans"),
    ],
)
def test_what_is_not_a_file_of_ours_is_refused_in_one_line(tmp_path, content, reason):
    path = tmp_path / "wrong"
    path.write_bytes(content)
    tracemalloc.start()
    with pytest.raises(ValueError, match=reason) as caught:
        read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert type(caught.value) is ValueError
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
    assert peak < 10 * 2**20


def test_what_may_never_end_is_not_read(tmp_path):
    (tmp_path / "zeros").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    for name in ("zeros", "pipe"):
        with pytest.raises(ValueError, match="not a regular file"):
            read(tmp_path / name)
    with pytest.raises(ValueError, match="it is a folder"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "missing")


def test_a_link_to_a_file_is_followed(path):
    link = path.with_name("link")
    link.symlink_to(path)
    container.write(link, "the file", {"new": 1}, {})
    assert link.is_symlink() and read(path)[0]["new"] == 1


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("when", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(path, monkeypatch, when):
    before = path.read_bytes()
    monkeypatch.setattr(atomic.os, when, full)
    with pytest.raises(OSError, match=r"Could not write the model .*file.cprime") as e:
        container.write(path, "the model file", {}, {})
    assert e.value.errno == errno.ENOSPC and "free some space" in str(e.value)
    assert path.read_bytes() == before and os.listdir(path.parent) == [path.name]


def test_an_interrupt_leaves_the_old_file(path):
    def interrupted():
        yield np.zeros(2)
        raise KeyboardInterrupt

    before = path.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        container.write(path, "it", {}, {"a": Blocks((4,), "<f8", interrupted())})
    assert path.read_bytes() == before and os.listdir(path.parent) == [path.name]


def test_where_nothing_can_be_written_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="make the folder first"):
        container.write(tmp_path / "no" / "file", "it", {}, {})
    with pytest.raises(IsADirectoryError, match="give another name"):
        container.write(tmp_path, "it", {}, {})
    with pytest.raises(OSError, match="not a regular file"):
        container.write("/dev/null", "it", {}, {})
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize(
    ("header", "arrays", "reason"),
    [
        ({"a": float("nan")}, {}, "cannot be kept"),
        ({"a": object()}, {}, "cannot be kept"),
        ({"a": "\ud800"}, {}, "cannot be kept"),
        ({"a": 2**64}, {}, "64 bits"),
        ({"a": "x" * (LONGEST + 1)}, {}, "more than a header may have"),
        ({}, {"a": np.array(["text"])}, "cannot be kept"),
        ({}, {"a": np.array([None])}, "cannot be kept"),
        ({}, {"no name": np.zeros(1)}, "not a valid name of an array"),
    ],
)
def test_what_could_not_be_read_is_not_written(path, header, arrays, reason):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=reason):
        container.write(path, "it", header, arrays)
    assert path.read_bytes() == before and os.listdir(path.parent) == [path.name]


def test_unfinished_files_of_the_same_name_are_removed(path):
    mine = path.with_name(f".{path.name}.0f{atomic.UNFINISHED}")
    other = path.with_name(f".other.0f{atomic.UNFINISHED}")
    mine.touch()
    other.touch()
    atomic.remove_unfinished(path.parent, path.name)
    assert not mine.exists() and other.exists() and path.exists()
