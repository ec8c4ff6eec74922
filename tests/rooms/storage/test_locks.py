"""A folder belongs to one at a time, and to nobody when that one is gone."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from cprime.storage import locks
from cprime.storage.locks import NAME, FolderInUseError, FolderLock

HOLD = """
import os, sys, time
from pathlib import Path
from cprime.storage.locks import FolderLock
lock = FolderLock(Path(sys.argv[1]))
lock.acquire()
{then}
print(os.getpid(), flush=True)
time.sleep(60)
"""
FORK = """
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, b"here")
    time.sleep(60)
os.read(read, 4)
"""
EXEC = "import subprocess; subprocess.Popen(['sleep', '5'])"


@pytest.fixture
def held(tmp_path):
    lock = FolderLock(tmp_path)
    assert lock.acquire()
    yield lock
    lock.release()


def holding(folder, then=""):
    """Return a process that has the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(then=then), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline().strip().isdigit()
    return process


def end(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.stdout.close()
    process.wait()


def assert_free(folder):
    lock = FolderLock(folder)
    assert lock.acquire()
    lock.release()
    assert list(folder.iterdir()) == []


def test_a_second_is_told_who_has_the_folder(tmp_path):
    process = holding(tmp_path)
    before = (tmp_path / NAME).read_bytes()
    try:
        with pytest.raises(FolderInUseError) as caught:
            FolderLock(tmp_path).acquire()
        told = str(caught.value)
        assert f"{str(tmp_path)!r} is in use: process {process.pid} on " in told
        assert f" on {socket.gethostname()} since 20" in told
        assert told.endswith("or give another folder.") and "\n" not in told
        assert (tmp_path / NAME).read_bytes() == before
    finally:
        end(process)
    assert_free(tmp_path)


def test_whoever_lets_go_leaves_nothing(held, tmp_path):
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    held.release()
    held.release()
    assert_free(tmp_path)


@pytest.mark.parametrize("then", [FORK, EXEC], ids=["fork", "exec"])
def test_children_do_not_keep_the_folder(tmp_path, then):
    process = holding(tmp_path, then)
    try:
        process.kill()
        process.wait()
        assert_free(tmp_path)
    finally:
        end(process)


def test_a_forked_child_does_not_let_go_for_its_parent(held, tmp_path):
    child = os.fork()
    if child == 0:
        held.release()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert (tmp_path / NAME).exists()
    with pytest.raises(FolderInUseError):
        FolderLock(tmp_path).acquire()


def test_threads_exclude_each_other(held, tmp_path):
    told = []

    def second():
        try:
            FolderLock(tmp_path).acquire()
        except FolderInUseError as error:
            told.append(str(error))

    thread = threading.Thread(target=second)
    thread.start()
    thread.join()
    assert f"process {os.getpid()} (this one) on" in told[0]


def test_a_copy_of_the_file_is_no_lock(held, tmp_path):
    """Whoever copies the folder opens and closes every file in it."""
    assert json.loads((tmp_path / NAME).read_text())["pid"] == os.getpid()
    with pytest.raises(FolderInUseError):
        FolderLock(tmp_path).acquire()


def test_a_file_removed_before_it_was_locked_is_no_lock(held, tmp_path, monkeypatch):
    """The first lets go between the moment the second opens the file and locks it."""
    lock_file = locks._locked

    def late(descriptor):
        monkeypatch.undo()
        held.release()
        return lock_file(descriptor)

    monkeypatch.setattr(locks, "_locked", late)
    second = FolderLock(tmp_path)
    assert second.acquire()
    assert (tmp_path / NAME).exists()
    with pytest.raises(FolderInUseError):
        FolderLock(tmp_path).acquire()
    second.release()
    assert_free(tmp_path)


def test_the_lock_of_another_is_not_removed(held, tmp_path):
    """Somebody removed the file, and somebody else has made a new one."""
    (tmp_path / NAME).unlink()
    other = FolderLock(tmp_path)
    assert other.acquire()
    held.release()
    with pytest.raises(FolderInUseError):
        FolderLock(tmp_path).acquire()
    other.release()


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b"{}", b'{"pid": 1, "host": "\\n\\u001b", "since": 2}'],
)
def test_what_is_none_of_ours_is_not_shown(held, tmp_path, monkeypatch, content):
    monkeypatch.setattr(locks, "SECONDS_TO_SIGN", 0.0)
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(FolderInUseError, match="in use: another process keeps a fit"):
        FolderLock(tmp_path).acquire()


def test_a_link_is_not_written_to(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / NAME).symlink_to(precious)
    with pytest.raises(OSError, match="Could not write the lock"):
        FolderLock(tmp_path).acquire()
    assert precious.read_text() == "precious"


def test_a_file_of_somebody_is_not_overwritten(tmp_path):
    for content in (b"precious", b'{"pid": 1}' + bytes(locks.LONGEST)):
        (tmp_path / NAME).write_bytes(content)
        with pytest.raises(OSError, match="the file there is not the lock of a fit"):
            FolderLock(tmp_path).acquire()
        assert (tmp_path / NAME).read_bytes() == content


def test_what_cannot_be_a_lock_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="make the folder first"):
        FolderLock(tmp_path / "none").acquire()
    os.mkfifo(tmp_path / NAME)
    with pytest.raises(OSError, match="not a regular file"):
        FolderLock(tmp_path).acquire()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP])
def test_a_file_system_without_locks_is_noticed(tmp_path, monkeypatch, number):
    def unsupported(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(locks.fcntl, "flock", unsupported)
    assert not FolderLock(tmp_path).acquire()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_does_not_undo_the_lock(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(locks.os, "ftruncate", full)
    lock = FolderLock(tmp_path)
    assert lock.acquire()
    lock.release()
