"""Is there something to read at a path?"""

import os
import stat
from pathlib import Path

from cprime.sources.display import shown


def check_readable(path: Path) -> Path:
    """Return the path of a file or folder that can be opened, or say why it cannot."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise FileNotFoundError(f"{shown(path)} cannot be opened: {why}.") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ValueError(f"{shown(path)} is neither a file nor a folder.")
    try:
        with os.scandir(path) if stat.S_ISDIR(mode) else path.open("rb"):
            return path
    except OSError as error:
        why = error.strerror
        raise type(error)(f"{shown(path)} cannot be opened: {why}.") from None
