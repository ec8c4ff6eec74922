"""A file that replaces another is readable and writable to the same users."""

import os
import stat
import struct
import tempfile
from pathlib import Path

import pytest

from cprime.storage import atomic, permissions

NOBODY = 65534
pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def path():
    """A file in a folder that everybody may write to."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        path = Path(folder) / "file"
        path.write_bytes(b"old")
        yield path


@pytest.fixture
def as_nobody():
    """Let the test run with the rights of an ordinary user, whoever runs it."""
    if os.geteuid() != 0:
        yield
        return
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    yield
    os.seteuid(0)
    os.setegid(0)
    os.setgroups(groups)


@pytest.fixture(params=[0o022, 0o077, 0o000], ids=["022", "077", "000"])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def replace(path):
    with atomic.replacing(path, "the file") as file:
        file.write(b"new")


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def access_list(path, *entries):
    """Set who may do what: (kind, rights, user)."""
    packed = b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(path, permissions.ACCESS_LIST, struct.pack("<I", 2) + packed)
    except (AttributeError, OSError):
        pytest.skip("there are no access lists here")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666, 0o620, 0o200, 0o755])
def test_a_file_keeps_its_mode(path, mode, umask):
    path.chmod(mode)
    replace(path)
    assert mode_of(path) == mode


def test_a_new_file_is_what_open_would_make(path, umask):
    path.unlink()
    replace(path)
    assert mode_of(path) == 0o666 & ~umask


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o604, 0o666])
def test_an_unfinished_file_is_never_more_readable(path, mode, monkeypatch):
    path.chmod(mode)
    before, seen = os.umask(0), []

    def note(descriptor):
        found = os.fstat(descriptor).st_mode
        if stat.S_ISREG(found):
            seen.append(stat.S_IMODE(found))

    def noted(call):
        def noting(descriptor, *args):
            note(descriptor)
            call(descriptor, *args)
            note(descriptor)

        return noting

    for name in ("fchown", "fchmod", "fsync"):
        monkeypatch.setattr(permissions.os, name, noted(getattr(os, name)))
    try:
        replace(path)
    finally:
        os.umask(before)
    assert seen[0] & ~0o600 == 0
    assert all(found & ~mode == 0 for found in seen)


@pytest.mark.parametrize("mode", [0o444, 0o400, 0o555, 0o000])
def test_a_file_nobody_may_write_to_is_not_replaced(path, mode):
    """Not even by root, who may."""
    path.chmod(mode)
    with pytest.raises(PermissionError, match=r"it is read-only\. .*make it writable"):
        replace(path)
    path.chmod(0o600)
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == ["file"]


@only_root
def test_a_file_of_another_user_is_not_replaced(path, as_nobody):
    for mode in (0o600, 0o644):
        os.seteuid(0)
        path.chmod(mode)
        os.seteuid(NOBODY)
        with pytest.raises(PermissionError, match="it is read-only"):
            replace(path)
    assert path.read_bytes() == b"old"


def test_an_ordinary_user_may_replace_what_is_writable(path, as_nobody):
    path.unlink()
    path.write_bytes(b"old")
    path.chmod(0o600)
    replace(path)
    assert path.read_bytes() == b"new" and mode_of(path) == 0o600
    path.chmod(0o400)
    with pytest.raises(PermissionError, match="it is read-only"):
        replace(path)


@only_root
def test_root_leaves_a_file_to_its_owner(path):
    os.chown(path, NOBODY, NOBODY)
    path.chmod(0o640)
    replace(path)
    found = path.stat()
    assert (found.st_uid, found.st_gid, mode_of(path)) == (NOBODY, NOBODY, 0o640)


@only_root
def test_a_group_that_cannot_be_kept_gets_what_everybody_has(path, as_nobody):
    os.seteuid(0)
    path.chmod(0o662)
    os.seteuid(NOBODY)
    replace(path)
    found = path.stat()
    assert (found.st_uid, found.st_gid) == (NOBODY, NOBODY)
    assert mode_of(path) == 0o622


# Owner, a user, group, mask, others.
ENTRIES = [(1, 6, 2**32 - 1), (2, 4, NOBODY), (4, 0, 2**32 - 1)]
ENTRIES += [(16, 4, 2**32 - 1), (32, 0, 2**32 - 1)]


def test_an_access_list_is_kept(path):
    access_list(path, *ENTRIES)
    before = os.getxattr(path, permissions.ACCESS_LIST)
    assert mode_of(path) == 0o640
    replace(path)
    assert os.getxattr(path, permissions.ACCESS_LIST) == before
    assert mode_of(path) == 0o640


def test_an_access_list_of_the_folder_is_not_added(path):
    path.chmod(0o640)
    access_list(path, *ENTRIES)
    access = os.getxattr(path, permissions.ACCESS_LIST)
    os.removexattr(path, permissions.ACCESS_LIST)
    path.chmod(0o640)
    os.setxattr(path.parent, "system.posix_acl_default", access)
    replace(path)
    assert permissions.ACCESS_LIST not in os.listxattr(path)
    assert mode_of(path) == 0o640
