"""Files larger than the memory a fit is given: `make large`, SCRATCH=folder.

3 GB of rows, as .npy and as Parquet, are fitted with 200 MB: how much memory does the
process take, and how fast is a sweep beside one of the same rows in memory? Sweeps of
the two alternate, so that both see the same machine. On fewer rows: are all bits the
same? Everything written is removed in the end.
"""

import argparse
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cprime import KMeans, open_data
from cprime.blocks import Kept
from cprime.kernels import native
from cprime.models import Isotropic
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.sources.memory import in_words, refuse_full_disk
from cprime.sources.scratch import scratch_folder
from cprime.theta import Theta

N, D, C = 23_437_500, 32, 100
C_PRIMES = (1, 3)
MEMORY = "200MB"
ITERATIONS = 7
# Rows that are written at once; those of the comparison of bits.
BLOCK, FEWER = 2**18, 2**20
MOST_MEMORY = 600e6
LEAST_SPEED = 0.6
COMPARED = {
    "cluster_centers_", "labels_", "variance_", "inertia_", "free_energy_", "n_iter_",
    "log_likelihood_", "gap_", "converged_",
}  # fmt: skip


def main():
    """Make the files, measure, and remove them."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--rows", type=int, default=N)
    ask.add_argument("--folder", type=Path)
    asked = ask.parse_args()
    # Whoever ends this also has the files removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended."))
    folder = asked.folder or scratch_folder()
    refuse_full_disk(folder, 4 * asked.rows * D * 4, "Large files")
    with tempfile.TemporaryDirectory(dir=folder, prefix="cprime-large-") as place:
        missed = measured(Path(place), asked.rows)
    for line in missed:
        print(f"MISSED: {line}")
    sys.exit(len(missed) > 0)


def measured(folder, n_rows):
    """Print what is measured; return the limits that were missed."""
    missed = different_bits(folder)
    files = made(folder, n_rows)
    X = np.load(files[0])
    print(
        "file      C'  open   peak    file Mrows/s  memory Mrows/s  ratio", flush=True
    )
    for C_prime in C_PRIMES:
        for path in files:
            found = alternated(path, MemoryRows(X), C_prime)
            peak, opening, file, memory = found
            ratio = np.median(memory) / np.median(file)
            print(
                f"{path.suffix:8}  {C_prime}  {opening:4.0f} s  {in_words(peak):>6}  "
                f"{n_rows / np.median(file) / 1e6:10.2f}  "
                f"{n_rows / np.median(memory) / 1e6:14.2f}  {ratio:8.2f}",
                flush=True,
            )
            what = f"{path.name}, C' = {C_prime}"
            if peak > MOST_MEMORY:
                missed.append(f"{what}: {in_words(peak)} of memory")
            if ratio < LEAST_SPEED:
                missed.append(f"{what}: {ratio:.2f} of the speed in memory")
    return missed


def made(folder, n_rows):
    """Write the same rows as .npy and as Parquet; return both paths."""
    rng = np.random.default_rng(0)
    centers = 3.0 * rng.standard_normal((C, D), dtype=np.float32)
    npy, parquet = folder / "rows.npy", folder / "rows.parquet"
    schema = pa.schema([(f"f{j}", pa.float32()) for j in range(D)])
    head = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, D)}
    with (
        npy.open("wb") as raw,
        pq.ParquetWriter(parquet, schema, use_dictionary=False) as columns,
    ):
        np.lib.format.write_array_header_1_0(raw, head)
        for start in range(0, n_rows, BLOCK):
            shape = (min(BLOCK, n_rows - start), D)
            rows = rng.standard_normal(shape, dtype=np.float32)
            rows += centers[rng.integers(C, size=shape[0])]
            raw.write(rows)
            columns.write_table(pa.table(list(rows.T), schema=schema))
    print(
        f"{n_rows} rows of {D} columns: .npy of {in_words(npy.stat().st_size)}, "
        f".parquet of {in_words(parquet.stat().st_size)}"
    )
    return npy, parquet


def alternated(path, rows, C_prime):
    """Let a process of its own fit a file, sweep by sweep, in turns with memory.

    Returns
    -------
    peak : float
        Bytes of memory that process had at most.
    opening : float
        Seconds until its rows were there to be read.
    file, memory : list of float
        Seconds of sweeps.
    """
    typed = [sys.executable, __file__, "fit", str(path), str(C_prime)]
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    sweep = in_memory(rows, C_prime)
    file, memory = [], []
    with subprocess.Popen(typed, **pipe) as child:
        try:
            for line in child.stdout:
                said = json.loads(line)
                if "peak" in said:
                    break
                file.append(said["seconds"])
                memory.append(next(sweep))
                print(file=child.stdin, flush=True)
        except BaseException:
            child.kill()
            raise
    if child.returncode != 0:
        raise RuntimeError(f"{' '.join(typed)} ended with {child.returncode}.")
    # The first iteration comes with the start, at C' = 1 without a sweep of its own.
    return said["peak"], said["opening"], file[1:], memory[1:]


def in_memory(rows, C_prime):
    """Yield the seconds of one sweep after another, without hints to save work."""
    model, K = Isotropic(), None
    theta = Theta(rows.take(np.arange(C)), 9.0)
    while True:
        started = time.perf_counter()
        before = None if K is None else Kept(K.K)
        K, stats = rows.sweep(
            native, before, model.coefficients(theta), Exact().plan(), C_prime
        )
        yield time.perf_counter() - started
        theta = model.maximize(stats, theta)


def fit(path, C_prime):
    """Fit a file with little memory; tell of every iteration, and wait to go on."""
    started = time.perf_counter()
    data = open_data(path, memory=MEMORY)
    opening = time.perf_counter() - started
    assert not data.in_memory
    since = time.perf_counter()

    def told(progress):
        nonlocal since
        print(json.dumps({"seconds": time.perf_counter() - since}), flush=True)
        sys.stdin.readline()
        since = time.perf_counter()

    options = {"init": data.read(0, C), "max_iter": ITERATIONS, "tol": 0.0}
    KMeans(C, c_prime=C_prime, **options).fit(data, progress=told)
    # Not what `getrusage` says: that includes the process which started this one.
    status = Path("/proc/self/status").read_text()
    peak = 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])
    print(json.dumps({"peak": peak, "opening": opening}))


def different_bits(folder):
    """Return in what fits of files are not those of the same rows in memory."""
    missed = []
    files = made(folder, FEWER)
    X = np.load(files[0])
    for C_prime in C_PRIMES:
        options = {"init": X[:C], "max_iter": ITERATIONS, "tol": 0.0}
        km = KMeans(C, c_prime=C_prime, **options)
        expected = results(km.fit(X))
        for path in files:
            data = open_data(path, memory="20MB")
            assert not data.in_memory
            found = results(km.fit(data))
            missed += [
                f"{path.name}, C' = {C_prime}: {name} is not that of rows in memory"
                for name, value in expected.items()
                if not np.array_equal(value, found[name])
            ]
    names = ", ".join(expected)
    print(f"{FEWER} rows, files against memory, compared to the bit: {names}")
    return missed


def results(km):
    """Return what a fit has found, by name."""
    found = {name: value for name, value in vars(km).items() if name[-1] == "_"}
    return {
        "trace_": found["trace_"]["free_energy"],
        **{name: found[name] for name in sorted(found) if name in COMPARED},
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["fit"]:
        fit(sys.argv[2], int(sys.argv[3]))
    else:
        main()
