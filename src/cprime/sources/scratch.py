"""Room on disk for rows that do not fit in memory, given back when nobody needs it."""

import os
import tempfile
from pathlib import Path
from typing import Any

from cprime.sources.memory import refuse_full_disk
from cprime.sources.raw import OpenFile, RawRows

# Where large temporary files belong; /tmp may be kept in memory.
LARGE_FILES = Path("/var/tmp")


def scratch_folder(asked: str | os.PathLike[str] | None = None) -> Path:
    """Return where to put temporary rows: what was asked for, or the system's place."""
    if asked is not None:
        folder = Path(asked)
        if not folder.is_dir():
            raise ValueError(f"scratch={str(folder)!r} is not a folder.")
        return folder
    if "TMPDIR" not in os.environ and os.access(LARGE_FILES, os.W_OK):
        return LARGE_FILES
    return Path(tempfile.gettempdir())


def scratch_rows(
    folder: Path, shape: tuple[int, int], dtype: Any, what: str = "Temporary rows"
) -> RawRows:
    """Return room for rows in a file without a name: it goes when it is let go of."""
    room = RawRows(_nameless(folder), shape, dtype, name="a temporary file")
    refuse_full_disk(folder, shape[0] * room.row_bytes, what)
    return room


def _nameless(folder: Path) -> OpenFile:
    try:
        descriptor, name = tempfile.mkstemp(dir=folder, prefix="cprime-")
    except OSError as error:
        raise OSError(
            f"{folder} does not take temporary files ({error.strerror}): give another "
            "folder as `scratch`."
        ) from error
    os.unlink(name)
    return OpenFile(descriptor)
