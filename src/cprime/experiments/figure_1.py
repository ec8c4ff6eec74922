"""Fig. 1 A-F and I-K: runs on the BIRCH sets, iteration by iteration."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cprime.experiments import alternatives, dbscan, drawing, followed, published
from cprime.experiments.birch import C, truth
from cprime.experiments.ensemble import ensemble
from cprime.experiments.exhibits import Exhibit
from cprime.experiments.figure_1_verdicts import verdicts
from cprime.experiments.followed import C_PRIMES, Example, Runs, examples, sample
from cprime.experiments.published import (
    GRID,
    K_MEANS,
    K_MEANS_C,
    KINDS,
    LAST_ITERATION,
    RANDOM,
)
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting

TITLE = "Fig. 1 A-F, I-K: k-means and k-means-C' on the BIRCH sets"
TEXT = (
    "Free energy and likelihood of k-means, which F bounds from below (A, D), of three "
    "runs and of the mean of all from greedy seeds; a run that missed two clusters is "
    "from plain seeds where greedy ones did not miss as many; "
    "likelihood and purity of k-means-C' (B, C, E, F), solid the mean of all runs and "
    "dashed the best one; true centres and those of the best runs (I, J, K). Axes are "
    "the paper's. The arrow at the left edge of A and D points at the mean L of the "
    "starts, the hollow triangle at the value the paper prints for it. "
    "Triangles at the right edge point at values the paper prints: of L "
    "and of the mean if filled, of F and of the best run if hollow. The purity of "
    "DBSCAN on the random set is below the axis of F."
)


def settings(quick: bool) -> list[Setting]:
    """Return the runs that are drawn, and those they are compared with."""
    sets = ensemble(quick)
    wanted = followed.settings(quick)
    wanted += [dbscan.setting(kind, sets.shown(kind)) for kind in KINDS]
    for kind in KINDS:
        wanted += alternatives.settings(sets, kind)
    return wanted


def show(records: Records, quick: bool) -> Exhibit:
    """Draw the figure, and look at where the runs begin and end."""
    figure, panels = drawing.new_figure(12, 11, rows=3, columns=3)
    runs = {(k, c): Runs(records, k, c, quick) for k in KINDS for c in C_PRIMES}
    letters = {GRID: "ABC", RANDOM: "DEF"}
    for row, kind in enumerate(KINDS):
        of_kind = {c: runs[kind, c] for c in C_PRIMES}
        true = truth(sample(kind, quick))
        noise = records[dbscan.setting(kind, ensemble(quick).shown(kind))]
        draw_k_means(
            panels[row, 0],
            letters[kind][0],
            kind,
            examples(records, kind, quick),
            true,
        )
        drawing.printed_at_start(panels[row, 0], published.L_INIT[kind])
        if kind == GRID:
            _point_at_printed_ends(panels[row, 0])
        draw_measure(panels[row, 1], letters[kind][1], kind, of_kind, "L", true)
        draw_measure(panels[row, 2], letters[kind][2], kind, of_kind, "purity", true)
        for panel in panels[row, 1:]:
            panel.legend(fontsize=7, frameon=False, loc="lower right")
        drawing.line_across(panels[row, 2], noise["purity"], "DBSCAN", "top")
    shown = (("I", GRID, 1), ("J", RANDOM, 1), ("K", RANDOM, 2))
    for panel, (letter, kind, c) in zip(panels[2], shown):
        of = sample(kind, quick)
        drawing.clusters(panel, of.data, of.centers, runs[kind, c].centers)
        drawing.title(panel, letter, f"{drawing.label(c, C)}, {kind}")
    panels[2, 0].legend(
        loc="lower left", bbox_to_anchor=(0, -0.08), ncols=2, frameon=False
    )
    return Exhibit(TITLE, TEXT, {"figure-1": figure}, verdicts=verdicts(records, quick))


def draw_k_means(
    panel: Axes, letter: str, kind: str, shown: dict[int | None, Example], true: Any
) -> None:
    """Draw L and F of runs that missed no, one or two clusters, and of the mean run."""
    iterations = np.arange(LAST_ITERATION + 1)
    names = {0: "all found", 1: "all but one", 2: "all but two", None: "mean of all"}
    for missed, of in shown.items():
        colour, name = drawing.MISSED_COLOURS[missed], names[missed]
        panel.plot(iterations, of.L, color=colour, linewidth=1.2, label=name)
        panel.plot(
            iterations, of.F, color=colour, linewidth=1.2, linestyle=drawing.DASHES
        )
    drawing.title(panel, letter, f"k-means, {kind}: L solid, F dashed")
    drawing.iterations(panel, LAST_ITERATION)
    panel.set(ylabel="nats per row", ylim=published.AXES["k-means"][kind])
    where = "top" if kind == GRID else "bottom"
    drawing.line_across(panel, true["L"], "L of the truth", where)
    drawing.arrow_at_start(panel, float(shown[None].L[0]), "L_init")
    panel.legend(fontsize=7, frameon=False, loc="lower right")


def _point_at_printed_ends(panel: Axes) -> None:
    for missed, (F, L) in published.FINAL_OF_FIGURE_1A.items():
        colour = drawing.MISSED_COLOURS[missed]
        drawing.printed(panel, L, colour, hollow=False)
        drawing.printed(panel, F, colour, hollow=True)


def draw_measure(
    panel: Axes, letter: str, kind: str, runs: dict[int, Runs], measure: str, true: Any
) -> None:
    """Draw a measure of k-means-C', the mean of all runs and the best run."""
    iterations = np.arange(LAST_ITERATION + 1)
    for c, of in runs.items():
        traces, name = of.traces(measure), drawing.label(c, C)
        mean, best = traces.mean(axis=0), traces[of.best(measure)]
        drawing.curve(panel, iterations, mean, c, name=name, dashed=False)
        drawing.curve(panel, iterations, best, c, dashed=True)
    name = drawing.MEASURES[measure]
    drawing.title(panel, letter, f"{name}, {kind}")
    drawing.iterations(panel, LAST_ITERATION)
    panel.set(ylabel=name, ylim=published.AXES[measure][kind])
    where = "top" if measure == "L" else "bottom"
    drawing.line_across(panel, true[measure], "truth", where)
    for c, algorithm in ((1, K_MEANS), (2, K_MEANS_C)):
        mean, best = published.TABLE_S1[kind][algorithm][measure]
        drawing.printed(panel, mean, drawing.colour(c), hollow=False, place=c)
        drawing.printed(panel, best, drawing.colour(c), hollow=True, place=c)
