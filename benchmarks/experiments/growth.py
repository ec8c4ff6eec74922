"""How do seconds grow with rows, features, clusters, and clusters kept?"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.ticker import NullLocator

from benchmarks import contestants, data, plots, tables
from benchmarks.comparison import Row
from benchmarks.harness import interleave
from benchmarks.settings import Settings

QUESTION = "how do seconds grow with N, D, C and C'?"
BASE = {"N": 100_000, "D": 32, "C": 500, "C'": 1}
AXES = {
    "N": (12_500, 25_000, 50_000, 100_000, 200_000, 400_000),
    "D": (4, 8, 16, 32, 64, 128, 256, 512),
    "C": (32, 64, 128, 256, 512, 1024, 2048, 4096),
    "C'": (1, 2, 3, 4, 5, 6, 7, 8),
}
QUICK_BASE = {"N": 4000, "D": 8, "C": 20, "C'": 1}
QUICK_AXES = {
    "N": (2000, 4000, 8000),
    "D": (4, 8, 16),
    "C": (10, 20, 40),
    "C'": (1, 2, 4, 8),
}
WORDS = {"N": "rows", "D": "features", "C": "clusters", "C'": "clusters kept per row"}
STYLES = {"scan": ("#3f90da", "o"), "sweep": ("#e76300", "s")}
COLUMNS = (
    ("axis", lambda row: f"{row['axis']}, {WORDS[row['axis']]}"),
    ("work", lambda row: row["work"]),
    ("exponent", tables.number("exponent", ".2f")),
    ("from", lambda row: f"{row['at'][0]:,}: {row['seconds'][0]:.3g} s"),
    ("to", lambda row: f"{row['at'][-1]:,}: {row['seconds'][-1]:.3g} s"),
)


def measure(settings: Settings) -> dict[str, Any]:
    """Time scans and sweeps of cprime, one axis varied at a time."""
    base = QUICK_BASE if settings.quick else BASE
    rows: list[Row] = []
    for axis, at in (QUICK_AXES if settings.quick else AXES).items():
        shapes = [base | {axis: value} for value in at]
        tasks = {
            (work, place): task
            for place, shape in enumerate(shapes)
            for work, task in _tasks(shape, axis)
        }
        timed = interleave(tasks, settings)
        for work in dict.fromkeys(work for work, _ in tasks):
            points = [timed[work, place] for place in range(len(at))]
            seconds = [point.seconds for point in points]
            exponent, _ = plots.power_law(at, seconds)
            times = [point.times for point in points]
            rows.append(
                {
                    "axis": axis,
                    "work": work,
                    "exponent": exponent,
                    "at": at,
                    "seconds": seconds,
                    "times": times,
                }
            )
            print(f"   {axis:3s} {work:6s} exponent {exponent:.2f}", flush=True)
    fixed = ", ".join(f"{name}={value:,}" for name, value in base.items())
    notes = [
        f"Blobs, with {fixed} but for the axis varied. A scan is `predict`; a sweep is "
        "search, posteriors and statistics with nothing to prune. Exponents are slopes "
        "of least squares in logarithms, through all points.",
    ]
    return {"rows": rows, "skipped": [], "notes": notes}


def plot(result: dict[str, Any], folder: Path) -> list[str]:
    """Draw a panel per axis, with power laws through the points."""
    # One scale for all panels: steep looks steep only where it is.
    figure, panels = plt.subplots(
        2, 2, figsize=(10, 8), sharey=True, layout="constrained"
    )
    for ax, axis in zip(panels.flat, AXES, strict=True):
        ax.set(xscale="log", yscale="log", xlabel=f"{axis}, {WORDS[axis]}")
        for row in result["rows"]:
            if row["axis"] == axis:
                colour, marker = STYLES[row["work"]]
                style = {"color": colour, "marker": marker, "label": row["work"]}
                plots.growth(ax, row["at"], row["seconds"], **style)
                ax.set_xticks(row["at"], [f"{value:,}" for value in row["at"]])
        ax.xaxis.set_minor_locator(NullLocator())
        plots.plain_decades(ax.yaxis)
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="upper left", frameon=False)
    for ax in panels[:, 0]:
        ax.set_ylabel("seconds")
    return [plots.save(figure, folder, "growth")]


def _tasks(
    shape: dict[str, int], axis: str
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the work to be timed for one shape, by name."""
    X = data.blobs(shape["N"], shape["D"], shape["C"])
    init = data.first_centers(X, shape["C"])
    theta = contestants.cprime_mixture(X, init)
    if axis != "C'":
        yield "scan", contestants.scan("cprime", X, init)[0]
    yield "sweep", contestants.cprime_sweep(X, theta, shape["C'"])
