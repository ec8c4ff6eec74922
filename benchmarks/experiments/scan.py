"""How fast is one exact scan of all rows and centres, as in `predict`?"""

from pathlib import Path
from typing import Any

from benchmarks import contestants, data, judge, machine, plots, tables
from benchmarks.comparison import Row, compare, each_input, row
from benchmarks.data import Input
from benchmarks.harness import interleave
from benchmarks.settings import Settings

QUESTION = "how fast is one exact scan of all rows and centres, as in `predict`?"
CONTESTANTS = ("cprime", "scikit-learn", "intelex", "faiss")
INPUTS = (
    Input("KDD", 200),
    Input("KDD", 2000),
    Input("blobs", 100, 100_000, 2),
    Input("blobs", 1000, 100_000, 16),
    Input("blobs", 1000, 100_000, 32),
    Input("blobs", 1000, 200_000, 64),
    Input("blobs", 1000, 100_000, 128),
    Input("blobs", 4096, 100_000, 128),
    Input("blobs", 1000, 50_000, 512),
)
QUICK = (Input("KDD", 20, 3000), Input("blobs", 30, 3000, 16))
COLUMNS = (
    *tables.TIMES,
    tables.GFLOPS,
    tables.PEAK,
    *tables.REACHED,
)
NOTES = [
    "The centres are those after one iteration from random rows. GFLOP/s count 2 N D C "
    "for a scan, however a library goes about it; the peak is that of multiply-adds on "
    "registers alone, measured in turn with the contestants.",
]


def measure(settings: Settings) -> dict[str, Any]:
    """Time the labelling of all rows by every contestant."""
    rows, skipped = each_input(QUICK if settings.quick else INPUTS, _compare, settings)
    return {"rows": rows, "skipped": skipped, "notes": NOTES}


def plot(result: dict[str, Any], folder: Path) -> list[str]:
    """Draw the rate of every contestant beside the peak."""
    label = "share of the peak that one scan reaches, more is better"
    figure = plots.dots(result["rows"], "of_peak", label, peak=1.0)
    return [plots.save(figure, folder, "scan")]


def _compare(given: Input, X: data.Array, settings: Settings) -> list[Row]:
    init = data.first_centers(X, given.C)
    names = contestants.installed(CONTESTANTS)
    scans = {name: contestants.scan(name, X, init) for name in names}
    peak = machine.Peak()
    tasks = {name: scans[name][0] for name in names} | {"peak": peak}
    timed = interleave(tasks, settings)
    rows = []
    for name in names:
        gflops = 2e-9 * X.size * given.C / timed[name].seconds
        line = row(
            name,
            timed[name],
            objective=judge.cost(X, scans[name][1], timed[name].outcome),
            gflops=gflops,
            of_peak=gflops / peak.gflops,
        )
        rows.append(line)
    return compare(given.label(X), rows)
