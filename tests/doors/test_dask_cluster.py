"""Fits on a cluster of real processes: the same bits, also when workers die.

Every cluster is on this machine, and talks to nobody else.
"""

import faulthandler
import os
import signal
import sys
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from cprime import Checkpoint, GaussianMixture, KMeans
from cprime.sources import cluster as running
from cprime.sources.cluster import ClusterError
from cprime.version import __version__

# What Dask says of workers that are killed, and of files of its own.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
D = 5
LENGTHS = (7000, 0, 3000, 5001, 4096, 6000)
# A fit that hangs ends the tests, and shows where it was.
PATIENCE = 150


def rows_of_chunk(block_info=None):
    info = block_info[None]
    rng = np.random.default_rng(info["chunk-location"][0])
    n_rows = info["chunk-shape"][0]
    return rng.normal(size=(n_rows, D)) + 4 * rng.integers(0, 4, size=(n_rows, 1))


def collection():
    """Rows that are made on workers, and made again if one is lost."""
    chunks = (LENGTHS, (D,))
    return da.map_blocks(
        rows_of_chunk, chunks=chunks, dtype=float, meta=np.empty((0, 0))
    )


@pytest.fixture(autouse=True)
def no_hang():
    faulthandler.dump_traceback_later(PATIENCE, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


def local_cluster(n_workers, **more):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        **more,
    )


@pytest.fixture(scope="module")
def cluster():
    with local_cluster(3) as found:
        yield found


@pytest.fixture
def client(cluster):
    with Client(cluster) as found:
        found.wait_for_workers(2, timeout=60)
        yield found


@pytest.fixture(scope="module")
def X():
    return collection().compute(scheduler="synchronous")


def assert_same(fitted, expected):
    np.testing.assert_array_equal(fitted.cluster_centers_, expected.cluster_centers_)
    np.testing.assert_array_equal(fitted.labels_.compute(), expected.labels_)
    assert fitted.free_energy_ == expected.free_energy_
    assert fitted.inertia_ == expected.inertia_


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"c_prime": 2},
        {"search": "lazy"},
        {"search": "neighbours", "n_neighbors": 4},
    ],
    ids=str,
)
def test_a_fit_on_workers_has_the_bits_of_one_in_memory(client, X, options):
    weights = np.random.default_rng(0).random(len(X))
    of = {"n_clusters": 6, "init": "k-means||", "random_state": 0, "max_iter": 5}
    expected = KMeans(**of, **options).fit(X, sample_weight=weights)
    found = KMeans(**of, **options).fit(
        collection(), sample_weight=da.from_array(weights, chunks=2500)
    )
    assert_same(found, expected)


def test_a_mixture_on_workers_has_the_bits_of_one_in_memory(client, X):
    of = {"n_components": 3, "init_params": "k-means||", "random_state": 0, "tol": 0.1}
    expected = GaussianMixture(**of).fit(X)
    found = GaussianMixture(**of).fit(collection())
    for name in ("means_", "covariances_", "weights_", "lower_bound_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    densities = found.score_samples(collection())
    np.testing.assert_array_equal(densities.compute(), expected.score_samples(X))


def at_iteration(wanted, what):
    """Return a progress that does something once, between two iterations."""

    def progress(done):
        if done.iteration in wanted:
            what()

    return progress


def kill_one(client):
    pids = client.run(os.getpid, on_error="ignore")
    os.kill(next(iter(pids.values())), signal.SIGKILL)


@pytest.mark.parametrize(
    ("options", "when"), [({}, {2, 4}), ({"search": "lazy"}, {2, 11})], ids=str
)
def test_workers_may_die_in_mid_fit(client, cluster, X, options, when):
    def estimator():
        return KMeans(
            *(8,), init="k-means||", random_state=1, max_iter=13, tol=0, **options
        )

    def kill():
        client.wait_for_workers(2, timeout=60)
        kill_one(client)

    expected = estimator().fit(X)
    found = estimator().fit(collection(), progress=at_iteration(when, kill))
    assert expected.n_iter_ > max(when)
    assert_same(found, expected)


def test_a_worker_may_stand_still_for_a_while(client, X):
    def pause():
        pid = next(iter(client.run(os.getpid).values()))
        os.kill(pid, signal.SIGSTOP)
        threading.Timer(1.5, os.kill, (pid, signal.SIGCONT)).start()

    of = {"n_clusters": 8, "init": "k-means||", "random_state": 1, "max_iter": 4}
    expected = KMeans(**of).fit(X)
    assert_same(
        KMeans(**of).fit(collection(), progress=at_iteration({2}, pause)), expected
    )


def set_version(version):
    import cprime.version

    cprime.version.__version__ = version


def test_another_version_on_a_worker_is_told(client):
    worker = next(iter(client.scheduler_info()["workers"]))
    client.run(set_version, "0.0.1", workers=[worker])
    try:
        with pytest.raises(ClusterError, match=r"has cprime 0\.0\.1 and this process"):
            KMeans(3).fit(collection())
    finally:
        client.run(set_version, __version__, workers=[worker])


def test_a_worker_without_cprime_is_told(client):
    def hide():
        import sys

        hidden = [name for name in sys.modules if name.split(".")[0] == "cprime"]
        sys.kept = {name: sys.modules.pop(name) for name in hidden}
        sys.modules["cprime"] = None

    def show():
        import sys

        sys.modules.pop("cprime")
        sys.modules.update(sys.kept)

    worker = next(iter(client.scheduler_info()["workers"]))
    client.run(hide, workers=[worker])
    try:
        with pytest.raises(ClusterError, match="has no cprime: install cprime"):
            KMeans(3).fit(collection())
    finally:
        client.run(show, workers=[worker])


def test_a_cluster_without_workers_is_told(monkeypatch):
    monkeypatch.setattr(running, "WITHOUT_WORKERS", 2.0)
    monkeypatch.setattr(running, "LOOK_EVERY", 0.5)
    with (
        local_cluster(0) as nobody,
        Client(nobody),
        pytest.raises(ClusterError, match="has had no workers for 2 seconds"),
    ):
        KMeans(3).fit(collection())


def end_the_worker(chunk):
    os._exit(1)


def test_rows_that_kill_workers_are_told():
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        fragile = local_cluster(1)
    deadly = collection().map_blocks(end_the_worker, meta=np.empty((0, 0)))
    estimator = KMeans(3)
    with (
        fragile,
        Client(fragile),
        pytest.raises(ClusterError, match=r"when they died.*smaller chunks"),
    ):
        estimator.fit(deadly)
    assert not hasattr(estimator, "n_features_in_")


def test_a_chunk_larger_than_memory_is_told(client):
    rows = 10**10
    large = da.zeros((rows, D), chunks=(rows, D))
    with pytest.raises(ClusterError, match=r"no worker has more than.*smaller chunks"):
        KMeans(3).fit(large)


def test_a_scheduler_that_is_gone_is_told_and_a_checkpoint_survives_it(
    cluster, X, tmp_path
):
    begin = time.monotonic()
    of = {"init": "k-means||", "random_state": 1, "max_iter": 6, "tol": 0}
    estimator, kept = KMeans(8, **of), tmp_path / "kept"
    with dask.config.set({"distributed.comm.timeouts.connect": "3s"}):
        lost = local_cluster(1)
        client = Client(lost)

        def end():
            lost.sync(lost.scheduler.close)

        try:
            with pytest.raises(ClusterError, match="connection to the scheduler"):
                estimator.fit(
                    collection(),
                    progress=at_iteration({3}, end),
                    checkpoint=Checkpoint(kept, every=0),
                )
        finally:
            client.close()
            lost.close()
    assert not hasattr(estimator, "cluster_centers_")
    assert time.monotonic() - begin < 60
    with Client(cluster):
        goes_on = Checkpoint(kept, every=0, resume=True)
        assert_same(
            estimator.fit(collection(), checkpoint=goes_on), KMeans(8, **of).fit(X)
        )
    assert "iteration 3" in goes_on.message
