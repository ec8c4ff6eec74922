"""A file larger than the memory a fit is given, beside the same rows in memory."""

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import cprime
from benchmarks import child
from benchmarks.comparison import Row, compare
from benchmarks.experiments.memory import highest, start_watching
from benchmarks.harness import stopwatch
from benchmarks.settings import Settings
from cprime.sources.memory import refuse_full_disk
from cprime.sources.scratch import scratch_folder

D, C = 32, 100
MEMORY = "200MB"
BLOCK = 2**18


def measure(settings: Settings) -> tuple[list[Row], list[str]]:
    """Fit the file and the rows, each in a process of its own."""
    gigabytes = 0.01 if settings.quick else settings.gigabytes
    n_rows = round(gigabytes * 1e9 / (4 * D))
    folder = scratch_folder()
    refuse_full_disk(folder, n_rows * D * 4, "The file of this job")
    with tempfile.TemporaryDirectory(dir=folder, prefix="cprime-bench-") as place:
        file = Path(place) / "rows.npy"
        _write(file, n_rows)
        rows = [
            child.call(fitted, settings.threads, name=name, file=str(file))
            for name in ("cprime, file", "cprime, in memory")
        ]
    return compare(f"file of {gigabytes:g} GB, {n_rows:,} x {D}, C={C}", rows), []


def fitted(name: str, file: str) -> Row:
    """Fit, in this process, by default parameters; loading the rows counts."""
    cprime.KMeans(2).fit(np.random.default_rng(0).random((100, D), dtype=np.float32))
    # How seeds of a file are found is no news here.
    warnings.simplefilter("ignore", UserWarning)
    before = start_watching()

    def fit() -> Any:
        if name == "cprime, file":
            X = cprime.open_data(file, memory=MEMORY)
        else:
            X = np.load(file)
        return cprime.KMeans(C, random_state=0).fit(X)

    seconds, model = stopwatch(fit)
    return {
        "contestant": name,
        "seconds": seconds,
        "times": [seconds],
        "iterations": int(model.n_iter_),
        "evaluations": int(model.evaluations_),
        "objective": float(model.inertia_),
        "extra_bytes": max(0, highest() - before),
    }


def _write(file: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    centers = 3.0 * rng.standard_normal((C, D), dtype=np.float32)
    head = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, D)}
    with file.open("wb") as raw:
        np.lib.format.write_array_header_1_0(raw, head)
        for start in range(0, n_rows, BLOCK):
            shape = (min(BLOCK, n_rows - start), D)
            rows = rng.standard_normal(shape, dtype=np.float32)
            rows += centers[rng.integers(C, size=shape[0])]
            raw.write(rows)


JOBS = {"file": measure}
