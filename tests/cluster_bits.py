"""Are fits on a cluster the fits in memory, bit by bit, however rows are divided?

    python tests/cluster_bits.py [WORKERS ...]

Every estimator and covariance type, with and without weights, as an array and as a
DataFrame, in chunks of 1,000, 2,048, 50,001 rows and irregular ones, on clusters of
1, 2 and 3 workers (or of those named). Everything is on this machine.
"""

import random
import sys
from itertools import product

import dask.array as da
import dask.dataframe as dd
import numpy as np
from distributed import Client, LocalCluster

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans
from cprime.checking.covariances import COVARIANCES

N, D, C = 60_011, 3, 5
OF_A_FIT = (
    *("cluster_centers_", "means_", "weights_", "covariances_", "variance_"),
    *("inertia_", "objective_", "free_energy_", "log_likelihood_", "gap_", "n_iter_"),
)
# Of the shortest ones, a part of the rows: hundreds of tasks a sweep say no more.
CHUNKINGS = {
    1_000: 13_005,
    2_048: 20_011,
    50_001: N,
    (7, 0, 30_000, 1, 2_049, 0, 20_000, 7_954): N,
}


def estimators():
    of = {"init": "k-means||", "random_state": 0, "max_iter": 3}
    yield KMeans(C, **of)
    yield KMeans(C, **of, c_prime=2)
    yield KMeans(C, **of, c_prime=None)
    yield KMeans(C, **of, search="lazy")
    yield SoftKMeans(C, **of)
    for regularization in (None, "quadratic", "entropy"):
        yield FuzzyKMeans(C, **of, regularization=regularization)
    of = {"init_params": "k-means||", "random_state": 0, "max_iter": 2}
    for covariance_type in COVARIANCES:
        yield GaussianMixture(3, covariance_type=covariance_type, **of)


def rows(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, D)) + 3 * rng.integers(0, 4, size=(n_rows, 1))
    return X, rng.random(n_rows)


def divided(X, weights, chunks, as_frame):
    """Return rows and weights as collections."""
    X = da.from_array(X, chunks=(chunks, D))
    if as_frame:
        X = dd.from_dask_array(X, columns=[f"f{i}" for i in range(D)])
    if weights is not None:
        weights = da.from_array(weights, chunks=7_001)
    return X, weights


def differences(found, expected):
    """Return the names of what differs."""
    names = [name for name in OF_A_FIT if hasattr(expected, name)]
    wrong = [
        name
        for name in names
        if not np.array_equal(getattr(found, name), getattr(expected, name))
    ]
    labels = getattr(expected, "labels_", None)
    if labels is not None and not np.array_equal(found.labels_.compute(), labels):
        wrong.append("labels_")
    return wrong


def main(numbers_of_workers):
    fits = wrong = 0
    known = {}
    for n_workers in numbers_of_workers:
        with (
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
            ) as cluster,
            Client(cluster),
        ):
            settings = list(
                product(CHUNKINGS.items(), (False, True), (False, True), estimators())
            )
            # In any order, so that a run which is stopped early has seen some of all.
            random.Random(n_workers).shuffle(settings)
            for (chunks, n_rows), as_frame, weighted, estimator in settings:
                X, w = rows(n_rows)
                w = w if weighted else None
                key = (str(estimator), n_rows, weighted)
                if key not in known:
                    fresh = type(estimator)(**estimator.get_params())
                    known[key] = fresh.fit(X, sample_weight=w)
                found = type(estimator)(**estimator.get_params())
                lazy, lazy_w = divided(X, w, chunks, as_frame)
                found.fit(lazy, sample_weight=lazy_w)
                fits += 1
                if other := differences(found, known[key]):
                    wrong += 1
                    print("OTHER BITS", n_workers, chunks, as_frame, *key, other)
                if fits % 10 == 0:
                    told = f"{fits} fits so far, {wrong} with other bits"
                    print(f"{n_workers} workers: {told}", flush=True)
    print(f"{wrong} of {fits} fits have other bits")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main([int(n) for n in sys.argv[1:]] or [1, 2, 3]))
