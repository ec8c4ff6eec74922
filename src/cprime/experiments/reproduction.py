"""Run what has not been run, and say how far it is."""

import hashlib
import inspect
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from cprime.datasets import made
from cprime.experiments import (
    birch,
    dbscan,
    formulas,
    likelihood,
    overfitting,
    problems,
    protein,
    scores,
    seven,
    stiffness,
)
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting
from cprime.kernels.threads import allowed_threads
from cprime.version import __version__


@dataclass(frozen=True)
class Runner:
    """Who turns settings into results.

    Attributes
    ----------
    run : callable
        Takes the values of a setting, returns its result.
    seconds : callable
        Takes the same, returns about how long that takes on one processor.
    fills_machine : bool
        Whether one run keeps all processors busy. Others run side by side.
    """

    run: Callable[..., dict[str, Any]]
    seconds: Callable[..., float]
    fills_machine: bool = False


RUNNERS = {
    "birch": Runner(birch.run, birch.seconds),
    "dbscan": Runner(dbscan.run, dbscan.seconds),
    "formulas": Runner(formulas.run, formulas.seconds),
    "overfitting": Runner(overfitting.run, overfitting.seconds, fills_machine=True),
    "protein": Runner(protein.run, protein.seconds, fills_machine=True),
    "seven": Runner(seven.run, seven.seconds, fills_machine=True),
    "stiffness": Runner(stiffness.run, stiffness.seconds),
}
# What results depend on beside their settings and the library itself.
SOURCES = (
    birch,
    dbscan,
    formulas,
    likelihood,
    made,
    overfitting,
    problems,
    protein,
    scores,
    seven,
    stiffness,
)


@lru_cache(maxsize=1)
def version() -> str:
    """Return the version of the library, with a digest of the experiments' code."""
    digest = hashlib.sha256()
    for module in SOURCES:
        digest.update(inspect.getsource(module).encode())
    return f"{__version__}+{digest.hexdigest()[:12]}"


def missing(settings: Iterable[Setting], records: Records) -> list[Setting]:
    """Return the settings without a result, each once, in order."""
    return [s for s in dict.fromkeys(settings) if s not in records]


def seconds(setting: Setting) -> float:
    """Return about how long a setting takes on this machine."""
    runner = RUNNERS[setting.runner]
    alone = runner.seconds(**dict(setting.values))
    return alone if runner.fills_machine else alone / allowed_threads()


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other reproductions out of a folder for as long as one is at work there.

    The folder is made if it is not there.
    """
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(
            f"{folder} is a file: results go into a folder. Choose another name."
        )
    lock = folder / "running"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if _is_abandoned(lock):
            lock.unlink()
        with lock.open("x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        raise FileExistsError(
            f"Another run is at work in {folder}. Wait for it to end, choose another "
            f"folder, or remove {lock} if there is none."
        ) from None
    except OSError as error:
        raise OSError(
            f"Results cannot be written to {folder}: {error.strerror}. "
            "Choose another folder."
        ) from error
    try:
        yield
    finally:
        lock.unlink()


def _is_abandoned(lock: Path) -> bool:
    """Return whether the process that made a lock is certainly gone."""
    if os.name != "posix" or not lock.exists():
        return False
    try:
        os.kill(int(lock.read_text()), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, ValueError):
        return False
    return False


def run(settings: Iterable[Setting], records: Records) -> Iterator[Setting]:
    """Run settings, noting each result; yield each when it is done.

    Those that fill the machine come first: the data some of them need are missed early.
    """
    small: list[Setting] = []
    large: list[Setting] = []
    for setting in settings:
        (large if RUNNERS[setting.runner].fills_machine else small).append(setting)
    for setting, result, taken in chain(map(_run, large), _side_by_side(small)):
        records.add(setting, result, taken)
        yield setting


Done = tuple[Setting, dict[str, Any], float]


def _side_by_side(settings: list[Setting]) -> Iterator[Done]:
    """Run settings in as many processes as there are processors."""
    n_processes = min(allowed_threads(), len(settings))
    if n_processes <= 1:
        yield from map(_run, settings)
        return
    others = multiprocessing.active_children()
    # Processes that are started afresh do not inherit threads in the midst of work.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(n_processes, context, _use_one_thread)
    try:
        with _without_interrupts():
            waiting: list[Future[Done]] = [pool.submit(_run, s) for s in settings]
        for done in as_completed(waiting):
            yield done.result()
    except BrokenProcessPool as error:
        raise RuntimeError(
            "A process that ran experiments was ended from outside, maybe for lack of "
            "memory. Run the same again to go on."
        ) from error
    finally:
        for process in set(multiprocessing.active_children()) - set(others):
            process.terminate()
        pool.shutdown(cancel_futures=True)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes that leave it to their parent to hear of interrupts."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _use_one_thread() -> None:
    threadpool_limits(1)


def _run(setting: Setting) -> Done:
    start = time.perf_counter()
    result = RUNNERS[setting.runner].run(**dict(setting.values))
    return setting, result, time.perf_counter() - start
