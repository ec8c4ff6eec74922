"""How is a file replaced so that it is always whole: the old one, or the new one?"""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from cprime.storage.permissions import create, is_read_only

# A name no user gives, for a file that is not complete yet.
UNFINISHED = ".unfinished"
READ_ONLY = "it is read-only"


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], what: str) -> Iterator[BinaryIO]:
    """Give a file to write to; when all went well it takes the place of `path`.

    Written beside it, brought to the disk, renamed. Whatever goes wrong, even a power
    cut, `path` is what it was before, or complete. Mode, owner and group stay those of
    the file that is replaced.

    Parameters
    ----------
    path : path
        A link is followed. What is no plain file is not replaced, nor is a file that
        is read-only: one this user may not write to, or nobody, root included.
    what : str
        What the user calls it, for the message if it cannot be written.
    """
    # A rename would replace a link, or a device such as /dev/null, by a file.
    target = Path(os.path.realpath(path))
    token = secrets.token_hex(4)
    # Of a name, 255 bytes are allowed.
    start = os.fsdecode(os.fsencode(target.name)[:200])
    unfinished = target.with_name(f".{start}.{token}{UNFINISHED}")
    try:
        _refuse_what_must_stay(target)
        with create(unfinished, target) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, target)
        _bring_to_disk(target.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        if isinstance(error, OSError):
            raise explain(error, path, what) from error
        raise


def remove_unfinished(folder: Path, name: str) -> None:
    """Remove what writers of the file of this name, killed at work, left behind."""
    for file in folder.glob(f".{name}.*{UNFINISHED}"):
        with contextlib.suppress(OSError):
            file.unlink()


def _refuse_what_must_stay(target: Path) -> None:
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "there is a folder of that name")
    if not stat.S_ISREG(mode):
        raise OSError(22, "it is not a regular file")
    if is_read_only(target):
        raise PermissionError(13, READ_ONLY)


def _bring_to_disk(folder: Path) -> None:
    """Make a rename last: the entry of a folder is data of the folder."""
    if os.name == "nt":  # where folders cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def explain(error: OSError, path: str | os.PathLike[str], what: str) -> OSError:
    """Return an error of the same kind that says what could not be written, and why."""
    remedy = "free some space, or write it to another folder"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        remedy = "make the folder first, or write it to another one"
    elif error.strerror == READ_ONLY:
        remedy = "give another name, or make it writable"
    elif isinstance(error, PermissionError):
        remedy = "write it to a folder of yours, or change its permissions"
    elif isinstance(error, IsADirectoryError) or error.errno == 22:
        remedy = "give another name"
    return OSError(
        error.errno,
        f"Could not write {what} {os.fspath(path)!r}: {error.strerror or error}. "
        f"What was there before is unchanged: {remedy}.",
    )
