"""dask-ml's KMeans and ours: the same rows, workers, start and number of iterations.

    python -m benchmarks.cluster_peer cprime
    /another/environment/bin/python -m benchmarks.cluster_peer dask-ml

Each in an environment of its own, by turns. Two workers of one thread. Seconds are
those of whole fits, CPU seconds those of client, scheduler and workers together, which
other load on the machine changes little. The objective is computed by the same code.
"""

import argparse
import json
import os
import time
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

FITS = 3


def rows_of_chunk(block_info: Any = None) -> Any:
    """Return rows that depend on the number of their chunk alone."""
    info = block_info[None]
    rng = np.random.default_rng(info["chunk-location"][0])
    n_rows, n_features = info["chunk-shape"]
    centers = 3.0 * np.random.default_rng(9).standard_normal((300, n_features))
    rows = centers[rng.integers(300, size=n_rows)]
    return (rows + rng.standard_normal((n_rows, n_features))).astype(np.float32)


def objective(X: Any, centers: Any) -> float:
    """Return the quantization error of all rows, in float64."""
    squared = np.sum(np.float64(centers) ** 2, axis=1)

    def of_chunk(rows: Any) -> Any:
        rows = rows.astype(np.float64)
        nearest = (squared - 2.0 * rows @ np.float64(centers).T).min(axis=1)
        return np.array([[np.sum(rows**2) + nearest.sum()]])

    parts = X.map_blocks(of_chunk, chunks=(1, 1), dtype=float, meta=np.empty((0, 0)))
    return float(parts.compute().sum())


def estimator(name: str, start: Any, iterations: int) -> Any:
    """Return a contestant."""
    settings = {"init": start, "max_iter": iterations, "tol": 0.0}
    if name == "cprime":
        from cprime import KMeans

        return KMeans(len(start), **settings)
    from dask_ml.cluster import KMeans as Peer

    return Peer(len(start), **settings)


def main() -> None:
    """Fit several times, and print a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=["cprime", "dask-ml"])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--features", type=int, default=32)
    parser.add_argument("--clusters", type=int, default=200)
    parser.add_argument("--chunk", type=int, default=100_000)
    parser.add_argument("--iterations", type=int, default=10)
    asked = parser.parse_args()
    lengths = (asked.chunk,) * (asked.rows // asked.chunk)
    X = da.map_blocks(
        rows_of_chunk,
        chunks=(lengths, (asked.features,)),
        dtype=np.float32,
        meta=np.empty((0, 0), np.float32),
    )
    start = X[: asked.clusters].compute(scheduler="synchronous")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        X = client.persist(X)

        def spent() -> float:
            of_workers = client.run(time.process_time).values()
            return float(sum(of_workers)) + time.process_time()

        estimator(asked.name, start, 1).fit(X)
        seconds, cpu = [], []
        for _ in range(FITS):
            before, begin = spent(), time.perf_counter()
            fitted = estimator(asked.name, start, asked.iterations).fit(X)
            seconds.append(time.perf_counter() - begin)
            cpu.append(spent() - before)
        told = {
            "name": asked.name,
            "seconds": seconds,
            "cpu": cpu,
            "iterations": int(fitted.n_iter_),
            "J": objective(X, fitted.cluster_centers_),
        }
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
