"""How long does it take? Contestants in turn, medians of several rounds."""

import gc
import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.settings import Settings

# However short a run is, more rounds than this teach nothing new.
MOST_ROUNDS = 50
# OpenMP threads of the contestant before keep spinning for some milliseconds.
PAUSE = 0.02
# What takes longer than this, in seconds, is run once: its noise is small beside it.
LONG = 60.0


@dataclass
class Timed:
    """Every single time of one task, and what its last run returned."""

    times: list[float]
    outcome: Any = None

    @property
    def seconds(self) -> float:
        """Median time."""
        return statistics.median(self.times)


def interleave(
    tasks: Mapping[Hashable, Callable[[], Any]],
    settings: Settings,
    *,
    rounds: int | None = None,
    warm_ups: Mapping[Hashable, Callable[[], Any]] | None = None,
    long: float = LONG,
) -> dict[Any, Timed]:
    """Run all tasks in turn, round after round, every other round backwards.

    What the machine does besides then hits all of them alike, and neighbours in
    `tasks` are always timed next to each other. Tasks of more than `long` seconds are
    left out from the second round on.

    Parameters
    ----------
    tasks : mapping of callables
    settings : Settings
    rounds : int, optional
        Exactly this many. By default at least `settings.rounds`, and more until
        `settings.seconds` have been timed.
    warm_ups : mapping of callables, optional
        What to run once before, untimed. By default the tasks themselves.
    long : float
        Seconds.

    Returns
    -------
    timed : dict of Timed
    """
    for warm_up in (warm_ups or tasks).values():
        warm_up()
    timed = {key: Timed([]) for key in tasks}
    done, spent = 0, 0.0
    while _more(done, spent, rounds, settings):
        keys = [key for key in tasks if done == 0 or timed[key].seconds < long]
        for key in keys if done % 2 == 0 else reversed(keys):
            seconds, timed[key].outcome = stopwatch(tasks[key])
            timed[key].times.append(seconds)
            spent += seconds
        done += 1
    return timed


def stopwatch(task: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long a task took, and what it returned."""
    gc.collect()
    time.sleep(PAUSE)
    start = time.perf_counter()
    outcome = task()
    return time.perf_counter() - start, outcome


def _more(done: int, spent: float, rounds: int | None, settings: Settings) -> bool:
    if rounds is not None:
        return done < rounds
    if done < settings.rounds:
        return True
    return spent < settings.seconds and done < MOST_ROUNDS
