"""Fig. 1 A-F and I-K: runs on the BIRCH sets, iteration by iteration."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cprime.experiments import dbscan, drawing, published
from cprime.experiments.birch import C, truth
from cprime.experiments.ensemble import Ensemble, Place, ensemble
from cprime.experiments.exhibits import Exhibit, Verdict
from cprime.experiments.followed import C_PRIMES, Runs, sample, setting
from cprime.experiments.published import GRID, K_MEANS, KINDS, LAST_ITERATION, RANDOM
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting

TITLE = "Fig. 1 A-F, I-K: k-means and k-means-C' on the BIRCH sets"
TEXT = (
    "Free energy and likelihood of k-means, which F bounds from below (A, D); "
    "likelihood and purity of k-means-C' (B, C, E, F), solid the mean of all runs and "
    "dashed the best one; true centres and those of the best runs (I, J, K). Axes are "
    "the paper's."
)


def settings(quick: bool) -> list[Setting]:
    """Return the runs that are drawn, and those they are compared with."""
    sets = ensemble(quick)
    wanted = [setting(kind, c, quick) for kind in KINDS for c in C_PRIMES]
    wanted += [dbscan.setting(kind, sets.shown(kind)) for kind in KINDS]
    for kind in KINDS:
        wanted += sets.settings(kind, K_MEANS, "greedy")
        wanted += sets.settings(kind, K_MEANS, "plain")
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
        draw_k_means(panels[row, 0], letters[kind][0], kind, of_kind[1], true)
        draw_measure(panels[row, 1], letters[kind][1], kind, of_kind, "L", true)
        draw_measure(panels[row, 2], letters[kind][2], kind, of_kind, "purity", true)
        if noise["purity"] > published.AXES["purity"][kind][0]:
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
        TITLE, TEXT, {"figure-1": figure}, verdicts=_verdicts(records, runs, quick)
    )


def draw_k_means(panel: Axes, letter: str, kind: str, runs: Runs, true: Any) -> None:
    """Draw L and F of runs that missed no, one or two clusters, and of the mean run."""
    iterations = np.arange(LAST_ITERATION + 1)
    for missed, colour in drawing.MISSED_COLOURS.items():
        if missed is None:
            L, F = runs.traces("L").mean(axis=0), runs.traces("F").mean(axis=0)
            name = "mean of all"
        else:
            run = runs.with_missed(missed)
            if run is None:
                continue
            L, F = runs.traces("L")[run], runs.traces("F")[run]
            name = ("all found", "all but one", "all but two")[missed]
        panel.plot(iterations, L, color=colour, linewidth=1.2, label=name)
        panel.plot(iterations, F, color=colour, linewidth=1.2, linestyle=drawing.DASHES)
    drawing.line_across(panel, true["L"], "L of the truth")
    drawing.title(panel, letter, f"k-means, {kind}: L solid, F dashed")
    panel.set(xlabel="iteration", xlim=(0, LAST_ITERATION), ylabel="nats per row")
    panel.set_ylim(published.AXES["k-means"][kind])
    panel.legend(fontsize=7, frameon=False, loc="lower right")


def draw_measure(
    panel: Axes, letter: str, kind: str, runs: dict[int, Runs], measure: str, true: Any
) -> None:
    """Draw a measure of k-means-C', the mean of all runs and the best run."""
    iterations = np.arange(LAST_ITERATION + 1)
    for c, of in runs.items():
        traces, colour = of.traces(measure), drawing.colour(c)
        name = drawing.label(c, C)
        panel.plot(
            iterations, traces.mean(axis=0), color=colour, linewidth=1.2, label=name
        )
        panel.plot(
            iterations,
            traces[of.best(measure)],
            color=colour,
            linewidth=1.2,
            linestyle=drawing.DASHES,
        )
    drawing.line_across(panel, true[measure], "truth")
    names = {"L": "L", "phi": "phi", "purity": "purity", "nmi": "NMI"}
    drawing.title(panel, letter, f"{names[measure]}, {kind}: mean solid, best dashed")
    panel.set(xlabel="iteration", xlim=(0, LAST_ITERATION), ylabel=names[measure])
    panel.set_ylim(published.AXES[measure][kind])
    panel.legend(fontsize=7, frameon=False, loc="lower right")


def _verdicts(records: Records, runs: dict[Any, Runs], quick: bool) -> list[Verdict]:
    sets = ensemble(quick)
    verdicts = [
        verdict
        for missed, (F, L) in published.FINAL_OF_FIGURE_1A.items()
        for verdict in _ends(records, sets, runs[GRID, 1], missed, {"F": F, "L": L})
    ]
    verdicts += [_start(records, sets, kind) for kind in KINDS]
    return verdicts


def _ends(
    records: Records,
    sets: Ensemble,
    shown: Runs,
    missed: int | None,
    ends: dict[str, float],
) -> list[Verdict]:
    """Return whether runs that missed so many clusters end where the paper's did."""
    found: dict[str, list[float]] = {name: [] for name in ends}
    for result in sets.results(records, GRID, K_MEANS, "greedy"):
        chosen = _chosen(result["missed"], missed)
        for name in ends:
            if chosen.any():
                found[name].append(float(np.array(result[name])[chosen].mean()))
    here = _chosen(shown.last("missed"), missed)
    who = "mean of all runs" if missed is None else f"{missed} cluster(s) missed"
    verdicts = []
    for name, value in ends.items():
        if len(found[name]) < 2:
            continue
        place = Place.of(value, found[name])
        measured = f"{shown.last(name)[here].mean():.4f}" if here.any() else "none here"
        verdicts.append(
            Verdict(
                f"Fig. 1A, k-means on the grid, {who}: last {name}",
                f"{value:.4f}",
                measured,
                place.text(4),
                place.is_typical,
                "" if place.is_typical else "Not typical of the sets drawn here.",
            )
        )
    return verdicts


def _chosen(missed: Any, wanted: int | None) -> Any:
    missed = np.asarray(missed)
    return np.ones(len(missed), dtype=bool) if wanted is None else missed == wanted


def _start(records: Records, sets: Ensemble, kind: str) -> Verdict:
    """Return whether runs begin where the paper's did."""
    value, texts, typical = published.L_INIT[kind], [], False
    for seeding in ("greedy", "plain"):
        results = sets.results(records, kind, K_MEANS, seeding)
        place = Place.of(value, [float(np.mean(of["L_init"])) for of in results])
        texts.append(f"{seeding}: {place.text(3)}")
        typical |= place.is_typical
    return Verdict(
        f"Fig. 1, {kind}: mean L at the start",
        f"{value:.4f}",
        texts[0].split(": ")[1].split(" ±")[0],
        "; ".join(texts),
        typical,
        ""
        if typical
        else "Neither seeding starts there: greedy starts higher, plain lower. The "
        "paper does not say which variance its start has; here it is that of the "
        "seeds' own labels (Prop. 3).",
    )
