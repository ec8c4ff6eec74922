"""How much faster are more threads?"""

from functools import partial
from typing import Any

from benchmarks import child, contestants, data, judge, tables
from benchmarks.comparison import Row, compare, each_input, row
from benchmarks.data import Input
from benchmarks.harness import Timed, interleave
from benchmarks.settings import Settings

QUESTION = "how much faster is a fit with more threads?"
CONTESTANTS = ("cprime", "scikit-learn", "intelex", "faiss")
INPUTS = (Input("KDD", 200),)
QUICK = (Input("blobs", 30, 3000, 16),)
ITERATIONS = 10
# Processes per thread count, in turn, so that one bad minute does not hit one count.
PROCESSES = 2
COLUMNS = (
    *tables.TIMES,
    ("times one thread", tables.number("speed_up", ".2f")),
    *tables.REACHED,
)
NOTES = [
    f"Fits of {ITERATIONS} iterations from the same random rows, in processes started "
    "with this number of threads.",
]


def measure(settings: Settings) -> dict[str, Any]:
    """Time fits in processes with one thread and with all of them."""
    rows, skipped = each_input(QUICK if settings.quick else INPUTS, _compare, settings)
    return {"rows": rows, "skipped": skipped, "notes": NOTES}


def times_of_fits(given: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return, from this process, every contestant's times and objective."""
    chosen = Input(**given)
    X = chosen.load()
    init = data.first_centers(X, chosen.C)
    tasks = {
        name: partial(contestants.fit, name, X, init, ITERATIONS)
        for name in contestants.installed(CONTESTANTS)
    }
    return {
        name: (timed.times, judge.objective(X, timed.outcome.centers))
        for name, timed in interleave(tasks, Settings(**settings)).items()
    }


def _compare(given: Input, X: data.Array, settings: Settings) -> list[Row]:
    counts = sorted({1, settings.threads})
    runs = _runs(given, counts, settings)
    rows: list[Row] = []
    for count in counts:
        lines = []
        for name, (times, objective) in runs[count].items():
            timed = Timed(times)
            speed_up = Timed(runs[1][name][0]).seconds / timed.seconds
            lines.append(row(name, timed, speed_up=speed_up, objective=objective))
        plural = "" if count == 1 else "s"
        rows += compare(f"{given.label(X)}, {count} thread{plural}", lines)
    return rows


def _runs(
    given: Input, counts: list[int], settings: Settings
) -> dict[int, dict[str, tuple[list[float], float]]]:
    """Return times and objective of every contestant for every count of threads."""
    runs: dict[int, dict[str, tuple[list[float], float]]] = {c: {} for c in counts}
    arguments = {"given": vars(given), "settings": vars(settings)}
    for _ in range(1 if settings.quick else PROCESSES):
        for count in counts:
            found = child.call(times_of_fits, count, **arguments)
            for name, (times, objective) in found.items():
                earlier = runs[count].get(name, ([], objective))[0]
                runs[count][name] = [*earlier, *times], objective
    return runs
