"""Who may read and write the file that takes the place of another?"""

import contextlib
import os
import stat
from pathlib import Path
from typing import BinaryIO

# What Linux calls the list of further users who may read or write a file.
ACCESS_LIST = "system.posix_acl_access"


def is_read_only(path: Path) -> bool:
    """Tell whether a file that exists must not be overwritten.

    As `open(path, "wb")` would find. Root may write to anything: for root, a file that
    nobody has the right to write to is read-only.
    """
    if not path.stat().st_mode & 0o222:
        return True
    by_effective_ids = os.access in os.supports_effective_ids
    return not os.access(path, os.W_OK, effective_ids=by_effective_ids)


def create(path: Path, target: Path) -> BinaryIO:
    """Open a new file, at no moment readable to more users than `target` is.

    It has the mode and the access list of `target`, and its owner and group where the
    system allows it. If there is no `target`, it is what `open` makes of a new file.

    Parameters
    ----------
    path : path
        Must not exist.
    target : path
        The file it is going to replace.
    """
    try:
        before = target.stat()
    except FileNotFoundError:
        return open(path, "xb")

    def open_private(name: str, flags: int) -> int:
        # Nobody else may read it until it belongs to whom `target` does.
        descriptor = os.open(name, flags, before.st_mode & 0o600)
        try:
            if hasattr(os, "fchown"):
                _hand_over(descriptor, target, before)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    return open(path, "xb", opener=open_private)


def _hand_over(descriptor: int, target: Path, before: os.stat_result) -> None:
    """Give an empty file the owner, group, access list and mode of `target`."""
    for owner in (before.st_uid, -1):
        with contextlib.suppress(OSError):
            os.fchown(descriptor, owner, before.st_gid)
            break
    mode = stat.S_IMODE(before.st_mode) & 0o777
    same_group = os.fstat(descriptor).st_gid == before.st_gid
    if not same_group:
        # Another group gets no more than everybody has.
        mode &= ~0o070 | (mode & 0o007) << 3
    if hasattr(os, "setxattr"):
        _set_access_list(descriptor, target if same_group else None)
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
        os.fchmod(descriptor, mode)


def _set_access_list(descriptor: int, target: Path | None) -> None:
    """Replace the list that a folder may have given to a new file."""
    with contextlib.suppress(OSError):  # there is none, or there are no such lists
        os.removexattr(descriptor, ACCESS_LIST)
    if target is None:
        return
    try:
        access = os.getxattr(target, ACCESS_LIST)
    except OSError:
        return
    os.setxattr(descriptor, ACCESS_LIST, access)
