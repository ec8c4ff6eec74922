"""Run what has not been run, and say how far it is."""

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from threadpoolctl import threadpool_limits

from cprime.experiments import (
    birch,
    dbscan,
    formulas,
    overfitting,
    protein,
    seven,
    stiffness,
)
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting
from cprime.kernels.threads import allowed_threads


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


def missing(settings: Iterable[Setting], records: Records) -> list[Setting]:
    """Return the settings without a result, each once, in order."""
    return [s for s in dict.fromkeys(settings) if s not in records]


def seconds(setting: Setting) -> float:
    """Return about how long a setting takes on this machine."""
    runner = RUNNERS[setting.runner]
    alone = runner.seconds(**dict(setting.values))
    return alone if runner.fills_machine else alone / allowed_threads()


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
    # Processes that are started afresh do not inherit threads in the midst of work.
    context = multiprocessing.get_context("spawn")
    with context.Pool(n_processes, initializer=_be_one_of_many) as pool:
        yield from pool.imap_unordered(_run, settings)


def _be_one_of_many() -> None:
    """Use one thread, and leave it to the parent to hear of interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)


def _run(setting: Setting) -> Done:
    start = time.perf_counter()
    result = RUNNERS[setting.runner].run(**dict(setting.values))
    return setting, result, time.perf_counter() - start
