"""Fig. S3: the plots of Fig. 1 enlarged, with the KL gap drawn at the side."""

import numpy as np
from matplotlib.axes import Axes

from cprime.experiments import drawing, figure_1_protein
from cprime.experiments.birch import C, truth
from cprime.experiments.exhibits import Exhibit, Verdict
from cprime.experiments.figure_1 import draw_k_means, draw_measure
from cprime.experiments.figure_1_protein import Curves, draw_bounds
from cprime.experiments.followed import C_PRIMES, Runs, sample, setting
from cprime.experiments.published import GRID, KDD_L_ENLARGED, KINDS, RANDOM
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting

TITLE = "Fig. S3: the same, enlarged, with the gap between likelihood and free energy"
TEXT = (
    "The bars at the right of A and B are the gap L - F where runs end: what hard "
    "assignment leaves out. It is larger for runs that miss clusters, and larger where "
    "clusters overlap (B). C is Fig. 1E, the mean of all runs solid and the best one "
    "dashed; D is Fig. 1G."
)


def settings(quick: bool) -> list[Setting]:
    """Return the runs of Fig. 1."""
    birch = [setting(kind, c, quick) for kind in KINDS for c in C_PRIMES]
    return birch + figure_1_protein.settings(quick)


def show(records: Records, quick: bool) -> Exhibit:
    """Draw the panels with their gaps."""
    figure, panels = drawing.new_figure(13, 10, rows=2, columns=2)
    size = figure_1_protein.QUICK if quick else figure_1_protein.FULL
    hard = {kind: Runs(records, kind, 1, quick) for kind in KINDS}
    for panel, letter, kind in zip(panels[0], "AB", KINDS):
        draw_k_means(panel, letter, kind, hard[kind], truth(sample(kind, quick)))
        _draw_gaps(panel, hard[kind])
    runs = {c: Runs(records, RANDOM, c, quick) for c in C_PRIMES}
    draw_measure(panels[1, 0], "C", RANDOM, runs, "L", truth(sample(RANDOM, quick)))
    panels[1, 0].legend(fontsize=8, frameon=False, loc="lower right")
    curves = {c: Curves.of(records, size, c) for c in size.c_primes}
    draw_bounds(panels[1, 1], "D", curves, size.C)
    if not quick:
        panels[1, 1].set_ylim(KDD_L_ENLARGED)
    return Exhibit(TITLE, TEXT, {"figure-s3": figure}, verdicts=_verdicts(hard, runs))


def _draw_gaps(panel: Axes, runs: Runs) -> None:
    """Draw L - F at the end of the runs as bars outside the right edge."""
    bars = []
    for missed, colour in drawing.MISSED_COLOURS.items():
        run = None if missed is None else runs.with_missed(missed)
        if missed is None:
            bars.append((runs.last("F").mean(), runs.last("L").mean(), colour))
        elif run is not None:
            bars.append((runs.last("F")[run], runs.last("L")[run], colour))
    for i, (F, L, colour) in enumerate(bars):
        panel.plot(
            [1.02 + 0.02 * i] * 2,
            [F, L],
            color=colour,
            linewidth=3,
            solid_capstyle="butt",
            transform=panel.get_yaxis_transform(),
            clip_on=False,
        )


def _verdicts(hard: dict[str, Runs], runs: dict[int, Runs]) -> list[Verdict]:
    gaps = {kind: of.last("L") - of.last("F") for kind, of in hard.items()}
    missed = hard[GRID].last("missed")
    levels = [m for m in range(3) if (missed == m).any()]
    by_missed = [float(gaps[GRID][missed == m].mean()) for m in levels]
    best = {c: float(of.last("L").max()) for c, of in runs.items() if c > 1}
    means = {kind: float(of.mean()) for kind, of in gaps.items()}
    return [
        Verdict(
            "Fig. S3A: the gap of k-means is larger for runs that miss more clusters",
            "increases",
            ", ".join(f"{m} missed: {g:.4f}" for m, g in zip(levels, by_missed)),
            f"mean over {len(missed)} runs",
            len(levels) > 1 and bool(np.all(np.diff(by_missed) > 0)),
        ),
        Verdict(
            "Fig. S3B: the gap is larger where clusters overlap",
            "overall larger",
            f"grid {means[GRID]:.4f}, random {means[RANDOM]:.4f}",
            f"mean over {len(missed)} runs",
            means[RANDOM] > means[GRID],
        ),
        Verdict(
            "Fig. S3C: for C' >= 2 the best likelihoods are close to identical",
            "close to identical",
            ", ".join(f"{drawing.label(c, C)}: {L:.4f}" for c, L in best.items()),
            "best of all runs",
            max(best.values()) - min(best.values()) < 0.01,
        ),
    ]
