"""Threads, forks and interrupts: compiled code behaves like a good citizen of Python.

However many threads work, in whatever process, the result is the same to the bit; and a
user who presses Ctrl-C gets the prompt back at once.
"""

import hashlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from cprime import GaussianMixture, KMeans, em
from cprime.blas import one_thread
from cprime.blocks import LEAF_ROWS, Block, Kept
from cprime.kernels import hints, native
from cprime.models import Isotropic
from cprime.search import Exact
from cprime.theta import Theta

HERE = Path(__file__).parent
SECONDS_BEFORE_IT_HANGS = 60
SECONDS_TO_THE_PROMPT = 0.5

# Several leaves, a last one that is not full, and enough to do for several threads.
N_ROWS, N_CLUSTERS = 5 * LEAF_ROWS + 3, 60
CENTRES = np.random.default_rng(0).normal(size=(N_CLUSTERS, 6))
ROWS = CENTRES[np.arange(N_ROWS) % N_CLUSTERS]
ROWS = ROWS + np.random.default_rng(1).normal(0.0, 0.3, ROWS.shape)
WEIGHTS = np.random.default_rng(2).integers(0, 4, N_ROWS) / 2.0

FITS = {
    "k-means": {},
    "k-means-C'": {"c_prime": 3},
    "EM": {"c_prime": None},
    "lazy-k-means": {"search": "lazy"},
    "given centres": {"init": ROWS[:N_CLUSTERS]},
}
DATA = {
    "float64": ROWS,
    "float32": ROWS.astype(np.float32),
    "CSR": sp.csr_array(np.where(np.abs(ROWS) > 0.5, ROWS, 0.0)),
}


def fingerprint(X=ROWS, random_state=0, **options):
    """Return a digest of everything a fit of a few iterations reports."""
    options = {"max_iter": 5, "kernel": "native", **options}
    model = KMeans(N_CLUSTERS, random_state=random_state, **options)
    model.fit(X, sample_weight=WEIGHTS)
    reported = [
        model.cluster_centers_,
        model.labels_,
        model.free_energy_,
        model.inertia_,
        model.variance_,
        model.gap_,
        model.trace_["free_energy"],
        model.predict(X),
        model.transform(X),
        model.score_samples(X),
        model.gap(X, per="row"),
    ]
    digest = hashlib.sha256()
    for numbers in reported:
        digest.update(np.asarray(numbers).tobytes())
    return digest.hexdigest()


@pytest.fixture
def threads():
    """Return a function that sets the number of threads until the test is over."""
    before = native.get_num_threads()
    yield native.set_num_threads
    native.set_num_threads(before)


def run_here(call, timeout=SECONDS_BEFORE_IT_HANGS, **environment):
    """Return what a function of this file prints in a process of its own."""
    done = subprocess.run(
        _command(call),
        capture_output=True,
        text=True,
        timeout=timeout,
        env=_environment(**environment),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def _command(call):
    code = f"import test_threads_and_forks as here; here.{call}"
    # Forks of processes with threads are what this is about.
    return [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]


def _environment(**more):
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("fit", FITS)
def test_the_number_of_threads_changes_no_bit(threads, fit, data):
    found = []
    for n in (1, 2, 3, 4, 8):
        threads(n)
        assert native.get_num_threads() == n
        found.append(fingerprint(DATA[data], **FITS[fit]))
    assert found == found[:1] * 5


@pytest.mark.parametrize("covariance_type, D", [("tied", 40), ("full", 130)])
def test_nor_do_those_of_linear_algebra(covariance_type, D):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, D)) + 3.0 * rng.integers(5, size=(3000, 1))
    found = set()
    for n_threads in (1, 2, 4):
        with threadpool_limits(n_threads):
            model = GaussianMixture(
                3, covariance_type=covariance_type, c_prime=2, max_iter=3, tol=0.0
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.set_params(random_state=0).fit(X)
            of_fit = (model.means_, model.covariances_, model.precisions_)
            of_rows = (model.score_samples(X), model.predict_proba(X))
        found.add(tuple(array.tobytes() for array in (*of_fit, *of_rows)))
    assert len(found) == 1


def test_linear_algebra_has_its_threads_again_afterwards():
    with threadpool_limits(2, user_api="blas"):
        with one_thread(), one_thread():
            inside = {lib["num_threads"] for lib in threadpool_info() if is_blas(lib)}
        after = {lib["num_threads"] for lib in threadpool_info() if is_blas(lib)}
    assert inside == {1} and after == {2}


def is_blas(library):
    return library["user_api"] == "blas"


def test_threadpoolctl_limits_our_threads_too(threads):
    threads(2)
    alone = fingerprint()
    for n in (1, 3, 8):
        with threadpool_limits(limits=n):
            assert native.get_num_threads() == n
            assert fingerprint() == alone
        assert native.get_num_threads() == 2


def print_threads_and_fingerprint():
    print(native.get_num_threads(), fingerprint())


def test_the_environment_limits_our_threads_too():
    alone = fingerprint()
    for n in ("1", "3"):
        found = run_here("print_threads_and_fingerprint()", OMP_NUM_THREADS=n)
        assert found == [n, alone]


def test_many_fits_at_a_time_are_as_good_as_one_by_one(threads):
    threads(2)
    fits = range(8)
    one_by_one = [fingerprint(random_state=i) for i in fits]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda i: fingerprint(random_state=i), fits))
    assert together == one_by_one
    assert len(set(one_by_one)) == 8


def fit_before_and_after_a_fork():
    native.set_num_threads(4)
    print(fingerprint())
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(theirs, fingerprint().encode())
        os._exit(0)
    os.waitpid(child, 0)
    print(os.read(ours, 1000).decode(), fingerprint())


def fit_in_a_pool_of_forks():
    native.set_num_threads(4)
    print(fingerprint())
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(*pool.map(fingerprint, [ROWS] * 3))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("how", [fit_before_and_after_a_fork, fit_in_a_pool_of_forks])
def test_a_forked_process_fits_like_its_parent(how):
    found = run_here(f"{how.__name__}()")
    assert len(found) in (3, 4) and len(set(found)) == 1


def sweep(X, means, kept=None):
    """Return K and the statistics of a sweep with one cluster per row."""
    block = Block(X, np.broadcast_to(1.0, len(X)))
    coefficients = Isotropic().coefficients(Theta(means, 1.0))
    kept, sums = native.sweep(block, kept, coefficients, Exact().plan(), 1)
    return kept, sums.total()


@pytest.fixture
def more_values_than_31_bits():
    """Return rows of zeros that take no memory, because nobody ever wrote to them."""
    try:
        return np.zeros((2**26 + 5, 40), dtype=np.float32)
    except MemoryError:
        pytest.skip("this machine does not promise 11 GB of zeros")


def test_more_values_than_31_bits_can_count(more_values_than_31_bits):
    X, means = more_values_than_31_bits, np.array([[0.0], [1.0], [2.0]]) + np.zeros(40)
    # The first row, the first that begins beyond, and the last.
    elsewhere = [0, 2**31 // 40 + 1, len(X) - 1]
    X[elsewhere] = np.array([[1.0], [1.0], [2.0]])
    kept, stats = sweep(X, means)
    assert np.flatnonzero(kept.K).tolist() == elsewhere
    assert kept.K[elsewhere, 0].tolist() == [1, 1, 2]
    assert stats.counts.tolist() == [len(X) - 3, 2, 1]
    assert stats.scatter == stats.quantization_error == 0.0


def test_one_row_seen_more_often_than_31_bits_can_count():
    X = np.broadcast_to(np.float32(1.0), (2**26 + 5, 40))
    means = np.array([[0.0], [1.5]]) + np.zeros(40)
    kept, stats = sweep(X, means)
    assert kept.K.min() == 1
    assert stats.counts.tolist() == [0, len(X)]
    assert stats.scatter == len(X) * 40 * 0.25


def work_until_interrupted(work):
    """Print when work begins, when it is interrupted, and whether all is well then."""
    X = np.broadcast_to(np.float32(1.0), (2**24, 64))
    means = np.random.default_rng(0).normal(size=(20_000, 64))
    calls = {
        "sweep": lambda: sweep(X, means),
        "nearest": lambda: native.nearest(
            X, Isotropic().coefficients(Theta(means, 1.0))
        ),
    }
    # Whoever runs the tests may ignore interrupts, as jobs in the background do.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("begins", flush=True)
    try:
        calls[work]()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(fingerprint())


@pytest.mark.parametrize("work", ["sweep", "nearest"])
def test_an_interrupt_ends_work_at_once(work):
    process = subprocess.Popen(
        _command(f"work_until_interrupted({work!r})"),
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(),
    )
    watchdog = threading.Timer(SECONDS_BEFORE_IT_HANGS, process.kill)
    watchdog.start()
    try:
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        sent = time.perf_counter()
        assert process.stdout.readline() == "interrupted\n"
        assert time.perf_counter() - sent <= SECONDS_TO_THE_PROMPT
        assert process.stdout.readline() == fingerprint() + "\n"
        assert process.wait() == 0
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


class InterruptError(Exception):
    pass


def test_what_an_interrupted_sweep_remembers_misleads_nobody(threads, monkeypatch):
    def interrupt(*_):
        raise InterruptError

    # Bounds from the first; one thread, and enough to do for most of a second.
    monkeypatch.setattr(hints, "SETTLED", 1.0)
    threads(1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2**15, 32))
    means = [rng.normal(size=(20_000, 32)) for _ in range(3)]
    kept, _ = sweep(X, means[0])
    kept, _ = sweep(X, means[0] + 1e-3, kept)
    assert kept.hints.store is not None
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(InterruptError):
            sweep(X, means[1], kept)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    (K, stats), (K_anew, stats_anew) = (
        sweep(X, means[2], each) for each in (kept, Kept(kept.K))
    )
    assert np.array_equal(K.K, K_anew.K)
    assert stats.shifts.tobytes() == stats_anew.shifts.tobytes()


SMALL = ROWS[:1200]


def restarted(n_threads=2, c_prime=2, **options):
    """Return a fit of few rows from many seeds, which sweeps in Python."""
    with threadpool_limits(n_threads):
        model = KMeans(10, n_init=12, random_state=3, c_prime=c_prime, **options)
        return model.fit(SMALL)


def everything(model):
    """Return what a fit reports, but for how long it took."""
    trace = {name: v for name, v in model.trace_.items() if name != "seconds"}
    return [
        model.cluster_centers_.tobytes(),
        model.labels_.tobytes(),
        {name: v.tobytes() for name, v in trace.items()},
        (model.inertia_, model.free_energy_, model.gap_, model.evaluations_),
    ]


@pytest.fixture
def threads_of_sweeps(monkeypatch):
    """Note which threads sweep."""
    seen, sweep = set(), native.sweep

    def noted(*arguments):
        seen.add(threading.get_ident())
        return sweep(*arguments)

    monkeypatch.setattr(native, "sweep", noted)
    return seen


@pytest.mark.parametrize("options", [{}, {"c_prime": 3}, {"init": "random"}], ids=str)
def test_restarts_side_by_side_are_those_one_after_another(options, threads_of_sweeps):
    one_by_one = restarted(n_threads=1, **options)
    assert threads_of_sweeps == {threading.get_ident()}
    threads_of_sweeps.clear()
    side_by_side = restarted(n_threads=3, **options)
    assert len(threads_of_sweeps) > 1
    assert everything(side_by_side) == everything(one_by_one)


@pytest.mark.parametrize("options", [{}, {"init": "random"}, {"tol": 0.0}], ids=str)
def test_restarts_of_k_means_are_the_same_on_any_number_of_threads(options):
    alone = everything(restarted(n_threads=1, c_prime=1, **options))
    for n_threads in (2, 3):
        assert everything(restarted(n_threads, c_prime=1, **options)) == alone


def test_whoever_watches_sees_restarts_in_their_order(threads_of_sweeps, capsys):
    unseen = restarted()
    threads_of_sweeps.clear()
    assert everything(restarted(verbose=1)) == everything(unseen)
    assert threads_of_sweeps == {threading.get_ident()}
    printed = capsys.readouterr().out.splitlines()
    expected = [f"Restart {i} of 12" for i in range(1, 13)]
    assert [line for line in printed if line.startswith("Restart")] == expected


def test_what_goes_wrong_in_one_restart_is_raised(monkeypatch):
    sweep, left = native.sweep, iter(range(20))

    def failing(*arguments):
        if next(left, None) is None:
            raise MemoryError("no room for another sweep")
        return sweep(*arguments)

    monkeypatch.setattr(native, "sweep", failing)
    with pytest.raises(MemoryError, match="no room"):
        restarted()


def test_numpy_treats_errors_as_the_caller_asked_for(monkeypatch):
    seen, sweep = set(), native.sweep

    def noted(*arguments):
        seen.add(np.geterr()["under"])
        return sweep(*arguments)

    monkeypatch.setattr(native, "sweep", noted)
    with np.errstate(under="raise"):
        restarted()
    assert seen == {"raise"}


def test_an_interrupt_keeps_the_best_of_restarts_that_are_complete(monkeypatch):
    """Though one that began before them is not."""
    finish, first = em.finish, threading.Event()

    def finish_all_but_the_first(*arguments):
        if not first.is_set():
            first.set()
            time.sleep(1.0)
            raise KeyboardInterrupt
        return finish(*arguments)

    monkeypatch.setattr(em, "finish", finish_all_but_the_first)
    model = KMeans(10, n_init=8, random_state=3, c_prime=2)
    with threadpool_limits(2), pytest.raises(KeyboardInterrupt):
        model.fit(SMALL)
    assert model.inertia_ >= restarted().inertia_
    assert model.predict(SMALL).shape == (len(SMALL),)


def test_restarts_need_no_thread_that_the_system_cannot_give(monkeypatch):
    expected = everything(restarted(n_threads=1))

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert everything(restarted(n_threads=4)) == expected


def most_threads_of_restarts():
    """Print the most threads alive while restarts run whose seeding is most work."""
    X, alive, done = np.tile(ROWS[:, :2], (6, 1)), [], threading.Event()

    def watch():
        while not done.is_set():
            alive.append(len(os.listdir("/proc/self/task")))
            time.sleep(0.001)

    before = len(os.listdir("/proc/self/task"))
    watcher = threading.Thread(target=watch)
    watcher.start()
    for c_prime in (1, 2):
        KMeans(8, n_init=8, random_state=0, max_iter=3, c_prime=c_prime).fit(X)
    done.set()
    watcher.join()
    print(max(alive) - before - 1)


@pytest.mark.skipif(
    not os.path.isdir("/proc/self/task"), reason="counts tasks of Linux"
)
def test_restarts_side_by_side_use_no_more_threads_than_allowed():
    # The caller of a call that is not brief waits, and works not.
    for limit in (1, 2, 8):
        printed = run_here("most_threads_of_restarts()", OMP_NUM_THREADS=str(limit))
        assert int(printed[0]) <= limit


def sweep_until_interrupted(seconds):
    """Sweep rows that leave no doubt where they belong, until an alarm rings."""
    means = 100.0 * np.random.default_rng(0).normal(size=(480, 64))
    X = np.broadcast_to(means[7], (1_000_000, 64))

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with pytest.raises(KeyboardInterrupt):
        while True:
            sweep(X, means)
    print("interrupted")


@pytest.mark.parametrize("seconds", [0.02, 0.05, 0.13, 0.31])
def test_an_interrupted_sweep_leaves_rows_unread(seconds):
    call = f"sweep_until_interrupted({seconds})"
    assert run_here(call, OMP_NUM_THREADS="1") == ["interrupted"]
