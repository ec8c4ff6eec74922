"""Fig. 1 A-F and I-K: runs on the BIRCH sets, iteration by iteration."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cprime.experiments import dbscan, drawing, followed, published
from cprime.experiments.birch import SEEDINGS, C, truth
from cprime.experiments.ensemble import Ensemble, Place, ensemble
from cprime.experiments.exhibits import Exhibit, Verdict
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
    "the paper's. Triangles at the right edge point at values the paper prints: of L "
    "and of the mean if filled, of F and of the best run if hollow. The purity of "
    "DBSCAN on the random set is below the axis of F."
)


def settings(quick: bool) -> list[Setting]:
    """Return the runs that are drawn, and those they are compared with."""
    sets = ensemble(quick)
    wanted = followed.settings(quick)
    wanted += [dbscan.setting(kind, sets.shown(kind)) for kind in KINDS]
    for kind in KINDS:
        for seeding in SEEDINGS:
            wanted += sets.settings(kind, K_MEANS, seeding)
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
    return Exhibit(
        TITLE, TEXT, {"figure-1": figure}, verdicts=_verdicts(records, quick)
    )


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


def _verdicts(records: Records, quick: bool) -> list[Verdict]:
    sets = ensemble(quick)
    verdicts = [
        verdict
        for missed, (F, L) in published.FINAL_OF_FIGURE_1A.items()
        for verdict in _ends(records, sets, missed, {"F": F, "L": L})
    ]
    verdicts += [_start(records, sets, kind) for kind in KINDS]
    return verdicts


def _ends(
    records: Records,
    sets: Ensemble,
    missed: int | None,
    ends: dict[str, float],
) -> list[Verdict]:
    """Return whether runs that missed so many clusters end where the paper's did."""
    who = "mean of all runs" if missed is None else f"a run that missed {missed}"
    verdicts = []
    for name, value in ends.items():
        found = _found_ends(records, sets, missed, name)
        claim = f"Fig. 1A, k-means on the grid, {who}: last {name}"
        if len(found) < 2:
            why = f"Only {len(found)} sets have runs that missed as many."
            verdicts.append(Verdict(claim, f"{value:.4f}", "", "", None, why))
            continue
        place = Place.of(value, found)
        verdicts.append(
            Verdict(
                claim,
                f"{value:.4f}",
                f"{place.center:.4f}",
                place.spread_text(4),
                place.is_typical,
                "" if place.is_typical else "Not typical of the sets drawn here.",
            )
        )
    return verdicts


def _found_ends(
    records: Records, sets: Ensemble, missed: int | None, name: str
) -> list[float]:
    """Return where runs end, the mean on every set that has any such run.

    Where a run ends depends on what it missed, not on how it was seeded; the mean of
    all runs depends on both and is of greedy seeds.
    """
    greedy = sets.results(records, GRID, K_MEANS, "greedy")
    if missed is None:
        return [float(np.mean(of[name])) for of in greedy]
    found = []
    for one, other in zip(greedy, sets.results(records, GRID, K_MEANS, "plain")):
        values = np.array([*one[name], *other[name]])
        chosen = np.array([*one["missed"], *other["missed"]]) == missed
        if chosen.any():
            found.append(float(values[chosen].mean()))
    return found


def _start(records: Records, sets: Ensemble, kind: str) -> Verdict:
    """Return whether runs begin where the paper's did."""
    value, places = published.L_INIT[kind], {}
    for seeding in SEEDINGS:
        results = sets.results(records, kind, K_MEANS, seeding)
        starts = [float(np.mean(of["L_init"])) for of in results]
        places[seeding] = Place.of(value, starts)
    greedy, plain = places["greedy"], places["plain"]
    return Verdict(
        f"Fig. 1, {kind}: mean L at the start",
        f"{value:.4f}",
        f"{greedy.center:.4f}",
        greedy.spread_text(4),
        greedy.is_typical,
        f"With plain seeding {plain.mean_text(4)}. The paper says neither which form "
        "of k-means++ it uses nor which variance a start has; here it is that of the "
        "seeds' own labels (Prop. 3).",
    )
