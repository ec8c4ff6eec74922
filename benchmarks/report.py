"""The report: a table per experiment, made from the JSON files there are."""

from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks import results
from benchmarks.comparison import differs, is_ours
from benchmarks.judge import SAME_OBJECTIVE
from benchmarks.tables import table

Result = dict[str, Any]

OPENING = f"""# Benchmarks of cprime

Made by `make bench`. Times are medians of runs in which the contestants take turns,
after a warm-up, on float32 rows; *spread* is (slowest - fastest) / median. *Speed* is
relative to the fastest peer: above 1 is faster. *Distances* are those a library says it
computed or, where it looks at every pair, N C per iteration. *Objective* is the sum of
squared distances to the nearest centre, computed in float64 by the same code for all;
contestants more than {SAME_OBJECTIVE:g} above the lowest, as a share of it, are marked.
Every single time is in the JSON file of the experiment.
"""
QUICK = "**A quick run: tiny inputs that check the suite, and say nothing of speed.**\n"


def write(folder: Path) -> None:
    """Make `README.md` and the pictures from the results in a folder."""
    found = results.load_all(folder)
    origins = Counter(_origin(result) for result in found.values())
    usual = origins.most_common(1)[0][0] if origins else ""
    parts = [OPENING, usual]
    if any(result["settings"]["quick"] for result in found.values()):
        parts.append(QUICK)
    parts.append(_at_a_glance(found))
    for name, result in found.items():
        parts.append(_section(name, result, folder))
        if _origin(result) != usual:
            parts.append(_origin(result))
    (folder / "README.md").write_text("\n".join(part for part in parts if part))


def _at_a_glance(found: dict[str, Result]) -> str:
    lines = []
    for name, result in found.items():
        rows = [row for row in result["rows"] if "speed" in row]
        for case in dict.fromkeys(row["case"] for row in rows):
            of_case = [row for row in rows if row["case"] == case]
            peer = min(
                (row for row in of_case if not is_ours(row)),
                key=lambda row: row["seconds"],
            )
            lines += [
                f"| {name} | {case} | {row['contestant']} | {row['seconds']:.3g} | "
                f"{peer['contestant']} | {peer['seconds']:.3g} | {row['speed']:.2f}"
                f"{'' if not any(map(differs, of_case)) else ' (objectives differ)'} |"
                for row in of_case
                if is_ours(row)
            ]
    if not lines:
        return ""
    head = "| experiment | input | | seconds | best peer | seconds | speed |"
    return "\n".join(
        ["## At a glance\n", head, "|---|---|---|--:|---|--:|--:|", *lines, ""]
    )


def _section(name: str, result: Result, folder: Path) -> str:
    experiment = results.experiment(name)
    files = experiment.plot(result, folder) if hasattr(experiment, "plot") else []
    pictures = [f"![{experiment.QUESTION}]({file})\n" for file in files]
    notes = "".join(f"- {note}\n" for note in result["notes"] + result["skipped"])
    return "\n".join(
        [
            f"## {name}: {experiment.QUESTION}\n",
            table(result["rows"], experiment.COLUMNS),
            *pictures,
            notes,
        ]
    )


def _origin(result: Result) -> str:
    """Return when, on what and with which versions a result was measured."""
    machine = result["machine"]
    versions = ", ".join(
        f"{name} {version}" for name, version in machine["versions"].items() if version
    )
    peak = f"sgemm {machine['sgemm_gflops']:.0f} GFLOP/s"
    if machine["fma_gflops"]:
        peak = f"multiply-add {machine['fma_gflops']:.0f} GFLOP/s, {peak}"
    return (
        f"*Measured {result['date']} on {machine['processor']}, {machine['system']}, "
        f"with {machine['threads']} threads; peak: {peak}. Python {machine['python']}, "
        f"{versions}; cprime's kernel: {machine['kernel']}.*\n"
    )
