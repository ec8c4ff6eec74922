"""How much memory does a fit need besides the data?"""

import ctypes
import resource
import sys
from pathlib import Path
from typing import Any

import cprime
from benchmarks import child, contestants, data, judge, tables
from benchmarks.comparison import Row
from benchmarks.settings import Settings

QUESTION = "how much memory does a fit need besides the data?"
CONTESTANTS = ("cprime", "scikit-learn", "intelex", "faiss")
SOFT = "cprime, C'=3"
SHAPE = {"N": 1_000_000, "D": 16, "C": 1000}
QUICK = {"N": 20_000, "D": 16, "C": 20}
# Enough for rows to settle and bounds to be taken.
ITERATIONS = 25
STATUS = Path("/proc/self/status")
COLUMNS = (
    tables.CASE,
    tables.CONTESTANT,
    ("extra bytes per row", tables.number("extra_bytes_per_row", ".1f")),
    ("data bytes per row", tables.number("data_bytes_per_row", ".0f")),
    ("extra MiB", tables.number("extra_bytes", ".1f", 2.0**-20)),
    tables.OBJECTIVE,
)
NOTES = [
    f"The highest resident memory during a fit of {ITERATIONS} iterations less that "
    "just before it, in a fresh process that has made its data in place and has "
    "warmed up with a tiny fit. C'=3 raises another objective.",
]


def measure(settings: Settings) -> dict[str, Any]:
    """Measure every contestant in a process of its own."""
    shape = QUICK if settings.quick else SHAPE
    names = contestants.installed((CONTESTANTS[0], SOFT, *CONTESTANTS[1:]))
    rows: list[Row] = []
    for name in names:
        line = child.call(extra_memory, settings.threads, name=name, **shape)
        rows.append(line)
        print(f"   {name:20s} {line['extra_bytes_per_row']:8.1f} bytes per row")
    return {"rows": rows, "skipped": [], "notes": NOTES}


def extra_memory(name: str, N: int, D: int, C: int) -> Row:
    """Fit, in this process, and return how much its memory has grown meanwhile."""
    X = data.blobs(N, D, C)
    init = data.first_centers(X, C)
    few = 2 * C
    _fit(name, X[:few], init)
    before = start_watching()
    centers = _fit(name, X, init)
    extra = max(0, highest() - before)
    return {
        "case": f"blobs {N:,} x {D}, C={C}",
        "contestant": name,
        "extra_bytes": extra,
        "extra_bytes_per_row": extra / N,
        "data_bytes_per_row": X.itemsize * D,
        "objective": judge.objective(X, centers),
    }


def start_watching() -> int:
    """Return the resident bytes now, and forget how many there were before."""
    if not STATUS.exists():
        return highest()
    # Memory that was freed but not given back would be used again without being seen.
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def highest() -> int:
    """Return the most resident bytes this process has had.

    Linux hands `ru_maxrss` of the parent on to a child, so its own count is read.
    """
    if STATUS.exists():
        return _status("VmHWM")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(field: str) -> int:
    for line in STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise ValueError(f"{STATUS} has no {field}.")


def _fit(name: str, X: data.Array, init: data.Array) -> data.Array:
    if name == SOFT:
        model = cprime.KMeans(
            len(init), c_prime=3, init=init, max_iter=ITERATIONS, tol=0
        )
        return model.fit(X).cluster_centers_
    return contestants.fit(name, X, init, ITERATIONS).centers
