"""Kills or stops workers at random moments of fits: the bits must not change.

    python tests/kill_workers.py ROUNDS

Of every three fits, one loses two workers; of every four, one has a worker that stands
still for two seconds. Everything is on this machine.
"""

import os
import random
import signal
import sys
import threading
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from cprime import KMeans

LENGTHS, D, C = (20_000,) * 11 + (7_777,), 8, 40
KINDS = ({}, {"search": "lazy"}, {"c_prime": 3})


def rows_of_chunk(block_info=None):
    info = block_info[None]
    rng = np.random.default_rng(info["chunk-location"][0])
    n_rows = info["chunk-shape"][0]
    return rng.normal(size=(n_rows, D)) + 5 * rng.integers(0, 6, size=(n_rows, 1))


def collection():
    chunks = (LENGTHS, (D,))
    return da.map_blocks(
        rows_of_chunk, chunks=chunks, dtype=float, meta=np.empty((0, 0))
    )


def estimator(options):
    start = {"init": "k-means||", "random_state": 0, "max_iter": 25, "tol": 0}
    return KMeans(C, **start, **options)


def disturb(cluster, moments, stops):
    """Kill a worker at each of these moments, or let one stand still."""
    last = 0.0
    for moment in moments:
        time.sleep(moment - last)
        last = moment
        pids = [worker.pid for worker in cluster.workers.values() if worker.pid]
        if not pids:
            continue
        pid = random.choice(pids)
        os.kill(pid, signal.SIGSTOP if stops else signal.SIGKILL)
        if stops:
            time.sleep(2.0)
            os.kill(pid, signal.SIGCONT)


def disturbed_fit(options, number, seconds):
    """Return a fit whose workers were disturbed, on a cluster of its own."""
    with (
        LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(3, timeout=120)
        times = 2 if number % 3 == 2 else 1
        moments = sorted(random.random() * seconds for _ in range(times))
        disturber = threading.Thread(
            target=disturb, args=(cluster, moments, number % 4 == 3)
        )
        disturber.start()
        begin = time.perf_counter()
        fitted = estimator(options).fit(collection())
        took = time.perf_counter() - begin
        disturber.join()
        return fitted, fitted.labels_.compute(), took


def main(rounds):
    X = collection().compute(scheduler="synchronous")
    different = 0
    for options in KINDS:
        expected, seconds = estimator(options).fit(X), 5.0
        for number in range(rounds):
            random.seed(number)
            fitted, labels, seconds = disturbed_fit(options, number, seconds)
            same = (
                np.array_equal(fitted.cluster_centers_, expected.cluster_centers_)
                and np.array_equal(labels, expected.labels_)
                and fitted.free_energy_ == expected.free_energy_
            )
            different += not same
            print(options, number, "same bits" if same else "OTHER BITS", flush=True)
    print(f"{different} of {rounds * len(KINDS)} fits have other bits")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
