"""Disk space for rows that do not fit in memory, given back when nobody needs it."""

import os
import tempfile
from pathlib import Path
from typing import Any

from cprime.sources.display import shown
from cprime.sources.memory import refuse_full_disk
from cprime.sources.row_file import OpenFile, RowFile

# Where large temporary files belong; /tmp may be kept in memory.
LARGE_FILES = Path("/var/tmp")


def scratch_folder(asked: str | os.PathLike[str] | None = None) -> Path:
    """Return where to put temporary rows: what was asked for, or the system's place."""
    if asked is not None:
        folder = Path(asked) if isinstance(asked, str | os.PathLike) else None
        if folder is None or not folder.is_dir():
            raise ValueError(
                f"scratch={shown(asked)!r} is not a folder: make it first, or give "
                "another one."
            )
        return folder
    if "TMPDIR" not in os.environ and os.access(LARGE_FILES, os.W_OK):
        return LARGE_FILES
    return Path(tempfile.gettempdir())


def scratch_rows(
    folder: Path, shape: tuple[int, int], dtype: Any, what: str
) -> RowFile:
    """Return space for rows in a file without a name: it goes when it is closed."""
    name = f"The temporary file in {shown(folder)}"
    rows = RowFile(_nameless(folder), shape, dtype, name=name)
    refuse_full_disk(folder, shape[0] * rows.row_bytes, what)
    return rows


def _nameless(folder: Path) -> OpenFile:
    try:
        # Windows removes it with the last descriptor, others at once.
        with tempfile.TemporaryFile(dir=folder, prefix="cprime-") as file:
            return OpenFile(os.dup(file.fileno()))
    except OSError as error:
        raise OSError(
            f"{shown(folder)} cannot hold temporary files ({error.strerror}): give "
            "another folder as `scratch`."
        ) from None
