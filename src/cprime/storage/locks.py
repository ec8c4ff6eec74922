"""Who has this folder? One at a time, until it lets go or its process ends."""

import contextlib
import errno
import json
import os
import socket
import stat
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from cprime.storage.atomic import explain

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NAME = "checkpoint.lock"
# File systems that have no locks answer with one of these.
UNSUPPORTED = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)
SECONDS_TO_SIGN = 0.1
LONGEST = 1000
OPENING = b'{"pid": '
# A byte that nobody reads: on Windows what is locked cannot be read by others.
FAR = 2**30


class FolderInUseError(RuntimeError):
    """Somebody else has the folder; the message says who."""


class FolderLock:
    """A lock on a folder, by a file in it that is there as long as the lock is held.

    The system releases it when the process ends, however that happens. A forked child
    does not hold it. Threads of one process exclude each other as processes do.

    Parameters
    ----------
    folder : path
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._path = folder / NAME
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Take the folder, or raise FolderInUseError.

        Returns
        -------
        taken : bool
            False if its file system has no locks.
        """
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        while self._descriptor is None:
            try:
                descriptor = os.open(self._path, flags, 0o666)
            except OSError as error:
                raise explain(error, self._path, "the lock") from error
            # From now on a forked child lets go of it.
            self._descriptor = descriptor
            _HELD.add(self)
            try:
                locked = _locked(descriptor)
                if not locked:
                    raise FolderInUseError(self._in_use(_holder(descriptor)))
                # Whoever had it may have removed the file just before it was locked.
                if not self._is_ours():
                    self._close()
                else:
                    _refuse_other_files(descriptor)
            except OSError as error:
                self._close()
                if error.errno in UNSUPPORTED:
                    with contextlib.suppress(OSError):
                        self._path.unlink()
                    return False
                raise explain(error, self._path, "the lock") from error
            except BaseException:
                self._close()
                raise
        _sign(self._descriptor)
        return True

    def release(self) -> None:
        """Let others have the folder. It does no harm to do so twice."""
        if self._descriptor is None:
            return
        # Windows removes no file that is open; elsewhere it is removed while locked.
        if sys.platform == "win32":
            self._close()
        with contextlib.suppress(OSError):
            if self._descriptor is None or self._is_ours():
                self._path.unlink()
        self._close()

    def _is_ours(self) -> bool:
        """Tell whether the file of that name is the one that is open here."""
        assert self._descriptor is not None
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        _HELD.discard(self)
        if descriptor is not None:
            # Unlocked aloud: a copy of the descriptor elsewhere would keep the lock.
            with contextlib.suppress(OSError):
                _unlock(descriptor)
            os.close(descriptor)

    def _in_use(self, holder: str) -> str:
        return (
            f"The folder {str(self._folder)!r} is in use: {holder} keeps a fit in it. "
            "Wait until that has ended, or give another folder."
        )


# Locks of this process.
_HELD: set[FolderLock] = set()


def _let_go_in_child() -> None:
    """Close what a forked child inherited; to unlock it would unlock the parent's."""
    while _HELD:
        lock = _HELD.pop()
        descriptor, lock._descriptor = lock._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)


def _locked(descriptor: int) -> bool:
    """Lock a file unless somebody has it locked."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, "the file there is not a regular file")
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _refuse_other_files(descriptor: int) -> None:
    """Raise if somebody keeps something else in the file: it would be lost."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    found = os.read(descriptor, LONGEST + 1)
    if found and not (found.startswith(OPENING) and len(found) <= LONGEST):
        raise OSError(errno.EINVAL, "the file there is not the lock of a fit")


def _unlock(descriptor: int) -> None:
    if sys.platform == "win32":
        os.lseek(descriptor, FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _sign(descriptor: int) -> None:
    """Write down who has the lock, for others to read."""
    since = datetime.now().isoformat(" ", "seconds")
    name = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
    # A full disk does not undo the lock.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, json.dumps(name).encode())


def _holder(descriptor: int) -> str:
    """Return who has the lock, in words."""
    for _ in range(10):
        # Whoever has taken it just now has not signed it yet.
        time.sleep(SECONDS_TO_SIGN)
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            name: Any = json.loads(os.read(descriptor, LONGEST))
        except ValueError:
            continue
        return _in_words(name)
    return "another process"


def _in_words(name: Any) -> str:
    """Return what was signed, unless it is none of ours."""
    if isinstance(name, dict) and name.keys() == {"pid", "host", "since"}:
        here = (name["pid"], name["host"]) == (os.getpid(), socket.gethostname())
        who = f"process {name['pid']}" + (" (this one)" if here else "")
        holder = f"{who} on {name['host']} since {name['since']}"
        if holder.isprintable() and len(holder) < LONGEST:
            return holder
    return "another process"
