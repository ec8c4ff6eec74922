"""What does a cluster cost: seconds and bytes of a sweep, against a fit in memory?

    python -m benchmarks.cluster [--rows 4000000] [--features 32] [--clusters 500]

One thread a worker. Rows are made on the workers, so nothing of them travels. Bytes are
those that workers sent to each other, and all that passed the loopback interface, in
which scheduler and client have a part.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from threadpoolctl import threadpool_limits

from cprime import KMeans
from cprime.blocks import LEAF_ROWS

SWEEPS = 4


def rows_of_chunk(block_info: Any = None) -> Any:
    """Return rows that depend on the number of their chunk alone."""
    info = block_info[None]
    rng = np.random.default_rng(info["chunk-location"][0])
    n_rows, n_features = info["chunk-shape"]
    rows = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    return rows + rng.integers(0, 20, size=(n_rows, 1)).astype(np.float32)


def collection(n_rows: int, n_features: int, chunk: int) -> Any:
    """Return so many rows, made where they are needed."""
    lengths = (chunk,) * (n_rows // chunk)
    return da.map_blocks(
        rows_of_chunk,
        chunks=(lengths, (n_features,)),
        dtype=np.float32,
        meta=np.empty((0, 0), np.float32),
    )


def measured_sweeps(
    X: Any, start: Any, workers_cpu: Any = None
) -> tuple[dict[str, list[float]], Any]:
    """Return what iterations after the first take, and the fit.

    Seconds, bytes on the loopback interface, and CPU seconds of this process (client
    and scheduler) and of workers, which other load on the machine changes little.
    """
    lines: list[tuple[float, ...]] = []

    def progress(done: Any) -> None:
        spent = workers_cpu() if workers_cpu is not None else 0.0
        now = time.perf_counter(), loopback(), time.process_time(), spent
        lines.append(now)

    fitted = KMeans(len(start), init=start, max_iter=SWEEPS + 1, tol=0)
    fitted.fit(X, progress=progress)
    names = "seconds", "bytes", "cpu_here", "cpu_workers"
    found = {n: np.diff(of)[1:].tolist() for n, of in zip(names, zip(*lines))}
    return found, fitted


def loopback() -> int:
    """Return the bytes that the loopback interface has sent."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        if line.strip().startswith("lo:"):
            return int(line.split()[9])
    return 0


def sent_by_workers(client: Client) -> int:
    """Return the bytes workers have sent to each other."""
    sent = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return int(sum(sent.values()))


def on_cluster(X: Any, start: Any, n_workers: int) -> dict[str, Any]:
    """Return seconds and bytes of sweeps by so many workers."""
    # As the guide advises: on a busy machine, blocks would go to and fro.
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        X = client.persist(X)

        def workers_cpu() -> float:
            return float(sum(client.run(time.process_time).values()))

        measured_sweeps(X[: LEAF_ROWS * 8], start)
        sent, passed, begin = sent_by_workers(client), loopback(), time.perf_counter()
        found, fitted = measured_sweeps(X, start, workers_cpu)
        return {
            "workers": n_workers,
            "blocks": X.numblocks[0],
            **found,
            "median": float(np.median(found["seconds"])),
            "whole_fit": time.perf_counter() - begin,
            "sent_by_workers": sent_by_workers(client) - sent,
            "loopback": loopback() - passed,
            "iterations": fitted.n_iter_,
            "checksum": float(fitted.inertia_),
        }


def main() -> None:
    """Measure, and print a line of JSON for every setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--features", type=int, default=32)
    parser.add_argument("--clusters", type=int, default=500)
    parser.add_argument("--chunk", type=int, default=500_000)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--skip-memory", action="store_true")
    asked = parser.parse_args()
    X = collection(asked.rows, asked.features, asked.chunk)
    start = np.random.default_rng(0).standard_normal(
        (asked.clusters, asked.features)
    ).astype(np.float32) + np.linspace(0, 19, asked.clusters)[:, None].astype("f4")
    shape = {"rows": asked.rows, "features": asked.features, "C": asked.clusters}
    for n_workers in asked.workers:
        found = on_cluster(X, start, n_workers)
        print(json.dumps({**shape, "chunk": asked.chunk, **found}), flush=True)
    if asked.skip_memory:
        return
    in_memory = X.compute(scheduler="threads")
    for n_threads in asked.workers:
        with threadpool_limits(n_threads):
            found, fitted = measured_sweeps(in_memory, start)
        seconds = found["seconds"]
        told = {"threads": n_threads, "seconds": seconds, "cpu": found["cpu_here"]}
        told |= {"median": float(np.median(seconds)), "checksum": fitted.inertia_}
        print(json.dumps({**shape, **told}), flush=True)


if __name__ == "__main__":
    main()
