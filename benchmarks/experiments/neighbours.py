"""What do partial E-steps save, and what do they cost in F, as C grows?"""

import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullLocator

from benchmarks import data, plots, tables
from benchmarks.comparison import Row
from benchmarks.settings import Settings
from cprime import KMeans

QUESTION = "what do rows that look at neighbouring clusters only save, as C grows?"
SIZES = (500, 1000, 2000, 4000, 8000, 16_000)
QUICK_SIZES = (50, 100, 200)
# To compare with, all clusters are looked at up to here: beyond it takes too long.
MOST_FOR_EXACT = 4000
ITERATIONS = 10
SEARCHES = {
    "exact": {"search": "exact"},
    "neighbours": {"search": "neighbours", "finish": "partial"},
}
STYLES = {"exact": ("#e76300", "s"), "neighbours": ("#3f90da", "o")}
COLUMNS = (
    ("rows", lambda row: row["case"]),
    ("search", lambda row: row["search"]),
    ("C", lambda row: f"{row['C']:,}"),
    ("distances a row and iteration", tables.number("looked_at", ",.0f")),
    ("exponent of C", tables.number("exponent", ".2f")),
    ("seconds an iteration", tables.number("seconds", ".3f")),
    ("free energy per row", tables.number("free_energy", ".3f")),
)


def clustered(n_rows: int, D: int) -> data.Array:
    """Return rows of 16,384 clusters whose centres lie in 128 clusters themselves."""
    rng = np.random.default_rng(0)
    centers = np.repeat(8.0 * rng.standard_normal((128, D)), 128, axis=0)
    centers += 2.0 * rng.standard_normal(centers.shape)
    X = centers[rng.integers(len(centers), size=n_rows)]
    X += rng.standard_normal(X.shape)
    return X.astype(np.float32)


def unstructured(n_rows: int, D: int) -> data.Array:
    """Return blobs no centre of which is nearer to some than to others."""
    return data.blobs(n_rows, D, 1000)


def measure(settings: Settings) -> dict[str, Any]:
    """Run ten iterations from the same random rows, for ever more clusters."""
    n_rows = 4000 if settings.quick else 1_000_000
    cases = {
        "clustered centres, D=32": lambda: clustered(n_rows, 32),
        "unstructured, D=64": lambda: unstructured(n_rows // 5, 64),
        "KDD": data.kdd,
    }
    rows: list[Row] = []
    skipped: list[str] = []
    for case, load in cases.items():
        X = None if settings.quick and case == "KDD" else load()
        if X is None:
            skipped.append(f"{case}: there is no such file.")
            continue
        sizes = QUICK_SIZES if settings.quick else SIZES
        sizes = tuple(C for C in sizes if len(X) >= 8 * C)
        for search in SEARCHES:
            mine = [
                _row(case, X, search, C)
                for C in sizes
                if search != "exact" or C <= MOST_FOR_EXACT
            ]
            looked_at = [row["looked_at"] for row in mine]
            # What bounds and neighbours spare the exact search follows no power law.
            exponent = None
            if search != "exact":
                exponent, _ = plots.power_law([row["C"] for row in mine], looked_at)
            rows += [row | {"exponent": exponent} for row in mine]
    notes = [
        f"`KMeans(C, c_prime=1)` from the same random rows, iterations 2 to "
        f"{ITERATIONS}, 64 neighbours, one other cluster drawn for each row. Distances "
        "between means, to find neighbours, are counted. Exponents are slopes of least "
        "squares in logarithms. F is that after the last iteration.",
    ]
    return {"rows": rows, "skipped": skipped, "notes": notes}


def plot(result: dict[str, Any], folder: Path) -> list[str]:
    """Draw distances and F against C, a column for every kind of rows."""
    cases = list(dict.fromkeys(row["case"] for row in result["rows"]))
    figure, panels = plt.subplots(
        2,
        len(cases),
        figsize=(4.2 * len(cases), 7),
        sharex=True,
        squeeze=False,
        layout="constrained",
    )
    for column, case in zip(panels.T, cases, strict=True):
        column[0].set(title=case, xscale="log", yscale="log")
        column[1].set(xscale="log", xlabel="clusters, C")
        for search, (colour, marker) in STYLES.items():
            mine = [
                row
                for row in result["rows"]
                if (row["case"], row["search"]) == (case, search)
            ]
            C = [row["C"] for row in mine]
            style = {"color": colour, "marker": marker, "label": search}
            looked_at = [row["looked_at"] for row in mine]
            if search == "exact":
                column[0].plot(C, looked_at, **style)
            else:
                plots.growth(column[0], C, looked_at, **style)
            column[1].plot(C, [row["free_energy"] for row in mine], **style)
        sizes = sorted({row["C"] for row in result["rows"] if row["case"] == case})
        column[1].set_xticks(sizes, [f"{C:,}" for C in sizes], rotation=45)
        plots.plain_decades(column[0].yaxis)
        for ax in column:
            ax.xaxis.set_minor_locator(NullLocator())
            ax.grid(alpha=0.3)
            ax.spines[["top", "right"]].set_visible(False)
        column[0].legend(frameon=False)
    panels[0, 0].set_ylabel("distances a row and iteration")
    panels[1, 0].set_ylabel("free energy per row")
    return [plots.save(figure, folder, "neighbours")]


def _row(case: str, X: data.Array, search: str, C: int) -> Row:
    start = time.perf_counter()
    kmeans = KMeans(
        C,
        init=data.first_centers(X, C),
        max_iter=ITERATIONS,
        tol=0.0,
        **SEARCHES[search],
    ).fit(X)
    trace = kmeans.trace_
    # The first iteration's E-step is that of the start.
    row = {
        "case": case,
        "search": search,
        "C": C,
        "looked_at": float(trace["evaluations"][2:].mean() / len(X)),
        "seconds": float(trace["seconds"][2:].mean()),
        "free_energy": float(trace["free_energy"][-1]),
    }
    took = time.perf_counter() - start
    print(
        f"   {case}, {search}, C={C:,}: {row['looked_at']:.0f} ({took:.0f} s)",
        flush=True,
    )
    return row
