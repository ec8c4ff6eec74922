"""One input, several contestants: who was how fast, and did all do the same work?"""

import math
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.data import Array, Input
from benchmarks.harness import Timed
from benchmarks.judge import SAME_OBJECTIVE
from benchmarks.settings import Settings

Row = dict[str, Any]


def each_input(
    inputs: Iterable[Input],
    compare: Callable[[Input, Array, Settings], list[Row]],
    settings: Settings,
) -> tuple[list[Row], list[str]]:
    """Return the lines of all inputs, and a sentence for each that is not there."""
    rows: list[Row] = []
    skipped: list[str] = []
    for given in inputs:
        X = given.load()
        if X is None:
            what = f"{given.source}, C={given.C}"
            skipped.append(f"{what}: skipped, no data file in the folder CPRIME_DATA.")
            print(f"   {skipped[-1]}", flush=True)
        else:
            rows += compare(given, X, settings)
    return rows, skipped


def row(contestant: str, timed: Timed, **more: Any) -> Row:
    """Return the line of one contestant.

    Parameters
    ----------
    contestant : str
    timed : Timed
    **more
        Whatever else is known: objective, evaluations, gflops, iterations.
    """
    return {
        "contestant": contestant,
        "seconds": timed.seconds,
        "times": timed.times,
        **more,
    }


def compare(case: str, rows: list[Row]) -> list[Row]:
    """Return the lines of one input with what only their comparison can tell.

    `speed` is relative to the fastest peer, whose speed is 1. `above_best` is how much
    larger the objective is than the lowest of all, as a share of it.
    """
    peers = [r["seconds"] for r in rows if not is_ours(r)]
    lowest = min((r["objective"] for r in rows if "objective" in r), default=math.nan)
    compared = []
    for line in rows:
        line = {"case": case, **line}
        # A difference of two short times may be anything.
        if peers and min(peers) > 0 and line["seconds"] > 0:
            line["speed"] = min(peers) / line["seconds"]
        if "objective" in line:
            line["above_best"] = (line["objective"] - lowest) / abs(lowest)
        compared.append(line)
        _print(line)
    return compared


def is_ours(line: Row) -> bool:
    """Whether this contestant is cprime."""
    return line["contestant"].startswith("cprime")


def differs(line: Row) -> bool:
    """Whether a contestant ended at a clearly worse objective than another."""
    return line.get("above_best", 0.0) > SAME_OBJECTIVE


def _print(line: Row) -> None:
    warning = ""
    if differs(line):
        warning = f"  OBJECTIVE {line['above_best']:.1e} ABOVE THE LOWEST"
    print(
        f"   {line['case']:32s} {line['contestant']:20s} {line['seconds']:9.4f} s"
        f"{warning}",
        flush=True,
    )
