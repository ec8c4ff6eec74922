"""Fig. S3: the plots of Fig. 1 enlarged, with the KL gap drawn at the side."""

import numpy as np
from matplotlib.axes import Axes

from cprime.experiments import drawing, figure_1_protein, followed
from cprime.experiments.birch import SEEDINGS, C, truth
from cprime.experiments.ensemble import ensemble
from cprime.experiments.exhibits import Exhibit, Verdict
from cprime.experiments.figure_1 import draw_k_means, draw_measure
from cprime.experiments.figure_1_protein import Curves, draw_bounds
from cprime.experiments.followed import C_PRIMES, Example, Runs, examples, sample
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

TITLE = "Fig. S3: the same, enlarged, with the gap between likelihood and free energy"
TEXT = (
    "The bars at the right of A and B are the gap L - F where runs end: what hard "
    "assignment leaves out. On the grid it is larger for runs that miss clusters (A), "
    "and it is larger where clusters overlap (B). C is Fig. 1E, the mean of all runs "
    "solid and the best one dashed; D is Fig. 1G."
)


def settings(quick: bool) -> list[Setting]:
    """Return the runs of Fig. 1."""
    wanted = followed.settings(quick) + figure_1_protein.settings(quick)
    for kind in KINDS:
        for seeding in SEEDINGS:
            wanted += ensemble(quick).settings(kind, K_MEANS, seeding)
    return wanted


def show(records: Records, quick: bool) -> Exhibit:
    """Draw the panels with their gaps."""
    figure, panels = drawing.new_figure(13, 10, rows=2, columns=2)
    size = figure_1_protein.QUICK if quick else figure_1_protein.FULL
    for panel, letter, kind in zip(panels[0], "AB", KINDS):
        shown = examples(records, kind, quick)
        draw_k_means(panel, letter, kind, shown, truth(sample(kind, quick)))
        _draw_gaps(panel, shown)
    runs = {c: Runs(records, RANDOM, c, quick) for c in C_PRIMES}
    draw_measure(panels[1, 0], "C", RANDOM, runs, "L", truth(sample(RANDOM, quick)))
    panels[1, 0].legend(fontsize=8, frameon=False, loc="lower right")
    curves = {c: Curves.of(records, size, c) for c in size.c_primes}
    draw_bounds(panels[1, 1], "D", curves, size.C)
    if not quick:
        panels[1, 1].set_ylim(KDD_L_ENLARGED)
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
    best = {c: float(of.last("L").max()) for c, of in runs.items() if c > 1}
    gaps, missed = _gaps(records, GRID, quick)
    levels = [m for m in range(MOST_MISSED + 1) if np.sum(missed == m) > 1]
    by_missed = [float(gaps[missed == m].mean()) for m in levels]
    overlapping, _ = _gaps(records, RANDOM, quick)
    return [
        Verdict(
            "Fig. S3A: the gap of k-means is larger for runs that miss more clusters",
            "increases",
            ", ".join(f"{m} missed: {g:.4f}" for m, g in zip(levels, by_missed)),
            f"means over {len(gaps)} runs on all sets, both seedings",
            len(levels) > 2 and bool(np.all(np.diff(by_missed) > 0)),
        ),
        Verdict(
            "Fig. S3B: the gap is larger where clusters overlap",
            "overall larger",
            f"grid {gaps.mean():.4f}, random {overlapping.mean():.4f}",
            f"means over {len(gaps)} runs on all sets, both seedings",
            bool(overlapping.mean() > gaps.mean()),
        ),
        Verdict(
            "Fig. S3C: for C' >= 2 the best likelihoods are close to identical",
            "close to identical",
            ", ".join(f"{drawing.label(c, C)}: {L:.4f}" for c, L in best.items()),
            "best of all runs",
            max(best.values()) - min(best.values()) < 0.01,
        ),
    ]


def _gaps(records: Records, kind: str, quick: bool) -> tuple[Array, Array]:
    """Return L - F of all runs of k-means at their end, and the clusters missed."""
    results = [
        of
        for seeding in SEEDINGS
        for of in ensemble(quick).results(records, kind, K_MEANS, seeding)
    ]
    gaps = [np.subtract(of["L"], of["F"]) for of in results]
    return np.concatenate(gaps), np.concatenate([of["missed"] for of in results])
