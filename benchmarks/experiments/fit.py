"""How long does a whole fit take, from the same start to a fixed point?"""

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import contestants, data, judge, plots, tables
from benchmarks.comparison import Row, compare, each_input, row
from benchmarks.data import Input
from benchmarks.harness import interleave
from benchmarks.settings import Settings

QUESTION = "how long does a whole fit take, from the same start to a fixed point?"
CONTESTANTS = (
    "cprime",
    "scikit-learn",
    "scikit-learn elkan",
    "intelex",
    "faiss",
    "geokmeans",
)
MAX_ITER = 1000
INPUTS = (
    Input("KDD", 200),
    Input("KDD", 2000),
    Input("blobs", 1000, 200_000, 64),
)
QUICK = (Input("KDD", 10, 1000), Input("blobs", 20, 1000, 16))
# geokmeans keeps C^2 D numbers twice and has one thread: no contestant for many C.
GEOKMEANS_LARGEST_C = 200
ROUNDS = 3
# Enough rows to load and start everything a fit uses.
WARM_UP_ROWS_PER_CENTER = 2
COLUMNS = (
    *tables.TIMES,
    tables.ITERATIONS,
    tables.EVALUATIONS,
    *tables.REACHED,
)
NOTES = [
    f"tol=0 and at most {MAX_ITER} iterations. faiss stops when its float32 objective "
    "repeats; it gets at most the iterations cprime needed.",
    "geokmeans accepts no initial centres: where it takes part, all others start from "
    "the rows it draws. It has one thread, and its fit ends with a plain scan for "
    "labels that it does not count.",
    "From one start, rounding in float32 can lead to different fixed points.",
]


def measure(settings: Settings) -> dict[str, Any]:
    """Time fits until nothing changes."""
    rows, skipped = each_input(
        QUICK if settings.quick else INPUTS, compare_fits, settings
    )
    return {"rows": rows, "skipped": skipped, "notes": NOTES}


def plot(result: dict[str, Any], folder: Path) -> list[str]:
    """Draw the seconds of every contestant."""
    figure = plots.dots(
        result["rows"], "seconds", "seconds for a whole fit, less is better"
    )
    return [plots.save(figure, folder, "fit")]


def compare_fits(given: Input, X: data.Array, settings: Settings) -> list[Row]:
    """Return the lines of all contestants for one input."""
    C = given.C
    names = contestants.installed(CONTESTANTS)
    if C > GEOKMEANS_LARGEST_C and "geokmeans" in names:
        names.remove("geokmeans")
    few = X[: WARM_UP_ROWS_PER_CENTER * C]
    tasks, warm_ups = _tasks(names, X, C, MAX_ITER), _tasks(names, few, C, 2)
    if "faiss" in names:
        init = _start(names, X, C)[0]
        needed = contestants.fit("cprime", X, init, MAX_ITER).iterations
        tasks["faiss"] = partial(contestants.fit, "faiss", X, init, needed)
    rounds = min(ROUNDS, settings.rounds)
    timed = interleave(tasks, settings, rounds=rounds, warm_ups=warm_ups)
    rows = [
        row(
            name,
            timed[name],
            iterations=timed[name].outcome.iterations,
            evaluations=timed[name].outcome.evaluations,
            objective=judge.objective(X, timed[name].outcome.centers),
        )
        for name in names
    ]
    return compare(given.label(X), rows)


def _tasks(names: list[str], X: data.Array, C: int, max_iter: int) -> dict[str, Any]:
    init, seed = _start(names, X, C)
    return {
        name: partial(contestants.fit_geokmeans, X, C, seed, max_iter)
        if name == "geokmeans"
        else partial(contestants.fit, name, X, init, max_iter)
        for name in names
    }


def _start(names: list[str], X: data.Array, C: int) -> tuple[data.Array, int]:
    """Return the rows to start from, and the seed that makes geokmeans do so too."""
    if "geokmeans" in names:
        return contestants.geokmeans_start(X, C)
    return data.first_centers(X, C), 0
