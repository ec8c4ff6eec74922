"""How much memory and disk may be used?"""

import math
import os
import re
import shutil
import sys
from pathlib import Path

from cprime.sources.display import reason, shown

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
BINARY_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
SIZE = re.compile(
    r"\s*((?:\d+\.?\d*|\.\d+)(?:E\+?\d+)?)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE
)
# Of all memory, what rows may take if nobody says otherwise.
SHARE_OF_MEMORY = 0.25
LEAST, MOST = 2**20, 2**60
# Of a disk, what is left to others.
DISK_LEFT_FREE = 2**28
CONTROL_GROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def bytes_of(memory: int | str | None) -> int:
    """Return an amount of memory in bytes: 2e8, "200MB", "1.5 GiB"; by default a share.

    Parameters
    ----------
    memory : int, str or None
    """
    if memory is None:
        return int(SHARE_OF_MEMORY * total_memory())
    found = SIZE.fullmatch(str(memory))
    if found is None:
        raise ValueError(
            f"memory={reason(repr(memory))} is not an amount of memory: use for "
            "instance "
            "'200MB' or '1.5GiB', or a number of bytes."
        )
    number, unit, binary = found.groups()
    units = BINARY_UNITS if binary and unit else UNITS
    n_bytes = float(number) * units[unit.upper()]
    if n_bytes < LEAST:
        raise ValueError(
            f"memory={memory!r} is too little: at least {LEAST} bytes are needed."
        )
    return int(min(n_bytes, MOST))


def total_memory() -> int:
    """Return the memory of this machine, or of the control group it is limited to."""
    total = _physical_memory()
    for limit in CONTROL_GROUP_LIMITS:
        try:
            total = min(total, int(limit.read_text()))
        except (OSError, ValueError):
            continue
    return total


def _physical_memory() -> int:
    if sys.platform != "win32":
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    import ctypes

    # MEMORYSTATUSEX: its own length, all memory, and six numbers more.
    status = (ctypes.c_uint64 * 8)(64)
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(status):
        raise ctypes.WinError()
    return status[1]


def refuse_full_disk(folder: Path, n_bytes: int, what: str, written: int = 0) -> None:
    """Raise if a folder's disk has no room for all of these bytes.

    Parameters
    ----------
    folder : Path
    n_bytes : int
        What is needed there, in all.
    what : str
        What needs it.
    written : int, default=0
        How many of these bytes are there already.
    """
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise OSError(
            f"{shown(folder)} cannot hold temporary files ({error.strerror}): give "
            "another folder as `scratch`."
        ) from None
    if n_bytes - written > free - DISK_LEFT_FREE:
        already = f", {in_words(written)} of it written," if written else ""
        raise OSError(
            f"{what} take {in_words(n_bytes)}{already} in {shown(folder)}, where "
            f"{in_words(free)} are free: give a folder with more room as `scratch` "
            f"({in_words(DISK_LEFT_FREE)} are left to others), or more `memory`."
        )


def too_much(n_bytes: int, limit: int) -> str:
    """Return that so many bytes are more than may be taken at once, and what to do."""
    # Rounded up: less would be refused again.
    step = 10 ** max(0, len(str(n_bytes)) - 3)
    enough = in_words(-(-n_bytes // step) * step)
    return (
        f"more than the {in_words(limit)} that may be taken at once: allow `memory` of "
        f"at least {enough}"
    )


def in_words(n_bytes: float) -> str:
    """Return a number of bytes as users read it: 3.1 GB."""
    if n_bytes < 1000:
        return f"{n_bytes:.0f} bytes"
    power = min(int(math.log10(n_bytes)) // 3, 4)
    return f"{n_bytes / 1000**power:.3g} {'kMGT'[power - 1]}B"
