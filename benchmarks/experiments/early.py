"""How long do the first iterations take, while most rows still move?"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import contestants, data, judge, plots, tables
from benchmarks.comparison import Row, compare, each_input, row
from benchmarks.contestants import Fitted
from benchmarks.data import Input
from benchmarks.harness import Timed, interleave
from benchmarks.settings import Settings
from cprime.theta import Theta

QUESTION = "how long do iterations 2 to 6 of a fit take?"
CONTESTANTS = ("cprime", "scikit-learn", "intelex", "faiss")
FIRST, LAST = 1, 6
INPUTS = (
    Input("KDD", 200),
    Input("KDD", 2000),
    Input("BIRCH", 100, 100_000),
    Input("digits", 25),
    Input("blobs", 100, 100_000, 2),
    Input("blobs", 1000, 100_000, 16),
    Input("blobs", 1000, 200_000, 64),
    Input("blobs", 1000, 100_000, 128),
    Input("blobs", 1000, 50_000, 512),
)
QUICK = (
    Input("KDD", 20, 3000),
    Input("BIRCH", 25, 2500),
    Input("digits", 25),
    Input("blobs", 30, 3000, 16),
)
COLUMNS = (
    *tables.TIMES,
    tables.EVALUATIONS,
    *tables.REACHED,
)
NOTES = [
    f"Every round times a fit of {LAST} and one of {FIRST} iterations from the same "
    "random rows, tol=0; seconds and distances are their difference, so that what is "
    "done once per fit does not count. Of cprime it is the iterations alone: the gap "
    "at the end of its fits takes longer after one iteration than after six. The "
    f"objective is that after {LAST} iterations.",
]


def measure(settings: Settings) -> dict[str, Any]:
    """Time fits of six iterations less fits of one."""
    rows, skipped = each_input(QUICK if settings.quick else INPUTS, _compare, settings)
    return {"rows": rows, "skipped": skipped, "notes": NOTES}


def plot(result: dict[str, Any], folder: Path) -> list[str]:
    """Draw the seconds of every contestant."""
    label = "seconds for iterations 2 to 6, less is better"
    figure = plots.dots(result["rows"], "seconds", label)
    return [plots.save(figure, folder, "early")]


def _compare(given: Input, X: data.Array, settings: Settings) -> list[Row]:
    init = data.first_centers(X, given.C)
    names = contestants.installed(CONTESTANTS)
    tasks = {
        (name, max_iter): _task(name, X, init, max_iter)
        for name in names
        for max_iter in (FIRST, LAST)
    }
    timed = interleave(tasks, settings)
    rows = [_row(name, X, timed[name, FIRST], timed[name, LAST]) for name in names]
    return compare(given.label(X), rows)


def _task(name: str, X: data.Array, init: data.Array, max_iter: int) -> Any:
    if name == "cprime":
        return partial(_iterate, X, Theta(init.astype(np.float64), 1.0), max_iter)
    return partial(contestants.fit, name, X, init, max_iter)


def _iterate(X: data.Array, theta: Theta, max_iter: int) -> Fitted:
    steps = contestants.cprime_iterations(X, theta, 1, max_iter)
    evaluations = sum(step.evaluations for step in steps)
    return Fitted(steps[-1].theta.means, steps[-1].iteration, evaluations)


def _row(name: str, X: data.Array, first: Timed, last: Timed) -> Row:
    difference = Timed([b - a for a, b in zip(first.times, last.times)])
    start: Fitted = first.outcome
    end: Fitted = last.outcome
    return row(
        name,
        difference,
        evaluations=end.evaluations - start.evaluations,
        objective=judge.objective(X, end.centers),
        times_first=first.times,
        times_last=last.times,
    )
