"""Fig. S3: the plots of Fig. 1 enlarged, with the KL gap drawn at the side."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cprime.experiments import alternatives, drawing, figure_1_protein, followed
from cprime.experiments.alternatives import results, ways
from cprime.experiments.birch import C, truth
from cprime.experiments.ensemble import ensemble
from cprime.experiments.exhibits import Exhibit, Verdict
from cprime.experiments.figure_1 import draw_k_means, draw_measure
from cprime.experiments.figure_1_protein import draw_bounds
from cprime.experiments.followed import C_PRIMES, Example, Runs, examples, sample
from cprime.experiments.protein_runs import FULL, QUICK, Curves
from cprime.experiments.published import (
    GRID,
    K_MEANS,
    KDD_L_ENLARGED,
    KINDS,
    RANDOM,
)
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting
from cprime.typing import Array

# Runs are grouped by how many clusters they missed, up to this many.
MOST_MISSED = 3
# Nats by which gaps differ, and by which likelihoods may and still be alike.
MARKED, ALIKE = 0.002, 0.01
# Ways of k-means that only start elsewhere.
SEEDED = ("plain k-means++", "random rows")

TITLE = "Fig. S3: the same, enlarged, with the gap between likelihood and free energy"
TEXT = (
    "The bars at the right of A and B are the gap L - F where runs end: what hard "
    "assignment leaves out. On the grid it is larger for runs that miss clusters (A), "
    "and it is larger where clusters overlap (B). C is Fig. 1E, the mean of all runs "
    "solid and the best one dashed; D is Fig. 1G; E, F and G are Fig. 1 I, J and K: "
    "true centres, and those of the best runs of k-means on the grid and on the random "
    "set, and of C'=2 there."
)


def settings(quick: bool) -> list[Setting]:
    """Return the runs of Fig. 1."""
    wanted = followed.settings(quick) + figure_1_protein.settings(quick)
    for kind in KINDS:
        wanted += alternatives.settings(ensemble(quick), kind)
    return wanted


def show(records: Records, quick: bool) -> Exhibit:
    """Draw the panels with their gaps."""
    figure = Figure(figsize=(13, 14.5), layout="constrained")
    panels = figure.subplot_mosaic("AAABBB;CCCDDD;EEFFGG")
    for panel in panels.values():
        drawing.tidy(panel)
    size = QUICK if quick else FULL
    for letter, kind in zip("AB", KINDS):
        panel = panels[letter]
        shown = examples(records, kind, quick)
        draw_k_means(panel, letter, kind, shown, truth(sample(kind, quick)))
        _draw_gaps(panel, shown)
    runs = {c: Runs(records, RANDOM, c, quick) for c in C_PRIMES}
    draw_measure(panels["C"], "C", RANDOM, runs, "L", truth(sample(RANDOM, quick)))
    panels["C"].legend(fontsize=8, frameon=False, loc="lower right")
    curves = {c: Curves.of(records, size, c) for c in size.c_primes}
    draw_bounds(panels["D"], "D", curves, size.C)
    if not quick:
        panels["D"].set_ylim(KDD_L_ENLARGED)
    for letter, kind, c in (("E", GRID, 1), ("F", RANDOM, 1), ("G", RANDOM, 2)):
        of, panel = sample(kind, quick), panels[letter]
        centers = Runs(records, kind, c, quick).centers
        drawing.clusters(panel, of.data, of.centers, centers)
        drawing.title(panel, letter, f"{drawing.label(c, C)}, {kind}")
    panels["E"].legend(
        loc="lower left", bbox_to_anchor=(0, -0.08), ncols=2, frameon=False
    )
    verdicts = _verdicts(records, runs, quick)
    return Exhibit(TITLE, TEXT, {"figure-s3": figure}, verdicts=verdicts)


def _draw_gaps(panel: Axes, shown: dict[int | None, Example]) -> None:
    """Draw L - F at the end of the runs as bars outside the right edge."""
    for i, (missed, of) in enumerate(shown.items()):
        panel.plot(
            [1.02 + 0.02 * i] * 2,
            [of.free_energy_at_end, of.likelihood_at_end],
            color=drawing.MISSED_COLOURS[missed],
            linewidth=3,
            solid_capstyle="butt",
            transform=panel.get_yaxis_transform(),
            clip_on=False,
        )


def _verdicts(records: Records, runs: dict[int, Runs], quick: bool) -> list[Verdict]:
    return [
        _gap_grows_with_what_is_missed(records, quick),
        _gap_grows_with_overlap(records, quick),
        _best_are_alike({c: of.last("L") for c, of in runs.items()}),
    ]


def _gap_grows_with_what_is_missed(records: Records, quick: bool) -> Verdict:
    by_way = {
        way: _by_missed(*_gaps(records, GRID, values, quick))
        for way, values in _algorithms().items()
    }
    right, *wrong = by_way
    shown = ", ".join(f"{m} missed: {g:.4f}" for m, g in by_way[right].items())
    n = len(_gaps(records, GRID, _algorithms()[right], quick)[0])
    return Verdict(
        "Fig. S3A: the gap of k-means is larger for runs that miss more clusters",
        "increases",
        shown,
        f"means over {n} runs on all sets, of all seedings",
        _increase(by_way[right]),
        "",
        {way: _increase(by_way[way]) for way in wrong},
    )


def _algorithms() -> dict[str, dict[str, Any]]:
    """Return k-means and other algorithms; seeds are drawn in all ways anyhow."""
    return {way: of for way, of in ways(K_MEANS).items() if way not in SEEDED}


def _by_missed(gaps: Array, missed: Array) -> dict[int, float]:
    levels = [m for m in range(MOST_MISSED + 1) if np.sum(missed == m) > 1]
    return {m: float(gaps[missed == m].mean()) for m in levels}


def _increase(by_missed: dict[int, float]) -> bool:
    """Return whether gaps, which exceed rounding, rise from level to level."""
    values = list(by_missed.values())
    rises = bool(np.all(np.diff(values) > MARKED))
    return len(values) > 2 and rises


def _gap_grows_with_overlap(records: Records, quick: bool) -> Verdict:
    means = {
        way: tuple(
            float(_gaps(records, kind, values, quick)[0].mean()) for kind in KINDS
        )
        for way, values in _algorithms().items()
    }
    right, *wrong = means
    larger = {way: random > grid + MARKED for way, (grid, random) in means.items()}
    return Verdict(
        "Fig. S3B: the gap is larger where clusters overlap",
        "overall larger",
        "grid {:.4f}, random {:.4f}".format(*means[right]),
        "means over the runs on all sets, of all seedings",
        larger[right],
        "",
        {way: larger[way] for way in wrong},
    )


def _best_are_alike(runs: dict[int, Array]) -> Verdict:
    soft = {c: of for c, of in runs.items() if c > 1}
    best = {c: float(of.max()) for c, of in soft.items()}
    others = {
        "k-means among them": {c: float(of.max()) for c, of in runs.items()},
        "means of runs": {c: float(of.mean()) for c, of in soft.items()},
        "worst runs": {c: float(of.min()) for c, of in soft.items()},
        "first runs": {c: float(of[0]) for c, of in soft.items()},
    }
    return Verdict(
        "Fig. S3C: for C' >= 2 the best likelihoods are close to identical",
        "close to identical",
        ", ".join(f"{drawing.label(c, C)}: {L:.4f}" for c, L in best.items()),
        "best of all runs",
        _are_alike(best),
        "",
        {name: _are_alike(of) for name, of in others.items()},
    )


def _are_alike(values: dict[int, float]) -> bool:
    return max(values.values()) - min(values.values()) < ALIKE


def _gaps(
    records: Records, kind: str, values: dict[str, Any], quick: bool
) -> tuple[Array, Array]:
    """Return L - F of all runs at their end, and the clusters missed."""
    sets = ensemble(quick)
    found = results(records, sets, kind, values)
    if values == ways(K_MEANS)[K_MEANS]:
        for seeding in SEEDED:
            found += results(records, sets, kind, ways(K_MEANS)[seeding])
    gaps = [np.subtract(of["L"], of["F"]) for of in found]
    return np.concatenate(gaps), np.concatenate([of["missed"] for of in found])
