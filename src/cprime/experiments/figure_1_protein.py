"""Fig. 1 G and H: k-means-C' on the protein data of the KDD Cup 2004."""

import numpy as np
from matplotlib.axes import Axes

from cprime.datasets.protein import N_ROWS
from cprime.experiments import drawing, published
from cprime.experiments.exhibits import Exhibit, Table
from cprime.experiments.figure_1_protein_verdicts import verdicts
from cprime.experiments.protein_runs import (
    FULL,
    QUICK,
    Curves,
    Size,
    from_plain_seeds,
    mean_text,
    setting,
    standard_error,
)
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting
from cprime.typing import Array

TITLE = "Fig. 1 G, H: k-means-C' on the KDD Cup 2004 protein data"
TEXT = (
    "{rows} rows of 74 features, C={C}, {runs} runs from greedy k-means++ seeds. L "
    "solid and F dashed with their standard errors (G), quantization error (H). L and "
    "phi are computed in the first ten iterations and every twentieth of the others. "
    "F in the plot is of the posteriors before an iteration's M-step; F in the table, "
    "and the gap L - F, are of the posteriors after it."
)
PHI_UNIT = 1e11


def settings(quick: bool) -> list[Setting]:
    """Return runs for every C'."""
    size = QUICK if quick else FULL
    greedy = [setting(size, c, i) for i in range(size.n_runs) for c in size.c_primes]
    return greedy + [setting(size, 1, i, "plain") for i in range(size.n_runs)]


def show(records: Records, quick: bool) -> Exhibit:
    """Draw both panels, and compare gaps and ranges with the published ones."""
    size = QUICK if quick else FULL
    curves = {c: Curves.of(records, size, c) for c in size.c_primes}
    figure, panels = drawing.new_figure(11, 4.5, columns=2)
    draw_bounds(panels[0, 0], "G", curves, size.C)
    for c, of in curves.items():
        _band(panels[0, 1], of.looked_at, of.phi / PHI_UNIT, c, size.C, dashed=False)
    drawing.title(panels[0, 1], "H", "quantization error, mean and standard error")
    drawing.iterations(panels[0, 1], size.n_iterations)
    panels[0, 1].set_ylabel("φ / $10^{11}$")
    panels[0, 1].legend(fontsize=8, frameon=False)
    if not quick:
        panels[0, 0].set_ylim(published.KDD_L)
        low, high = np.array(published.KDD_PHI) / PHI_UNIT
        panels[0, 1].set_ylim(low - 0.1 * (high - low), high)
        drawing.line_across(panels[0, 1], low, "here the paper's axis begins")
    rows = size.n_rows or N_ROWS
    text = TEXT.format(rows=f"{rows:,}", C=size.C, runs=size.n_runs)
    return Exhibit(
        TITLE,
        text,
        {"figure-1-protein": figure},
        [_table(curves, size)],
        verdicts(curves, from_plain_seeds(records, size), quick),
    )


def draw_bounds(panel: Axes, letter: str, curves: dict[int, Curves], C: int) -> None:
    """Draw L and F for every C'."""
    for c, of in curves.items():
        _band(panel, of.looked_at, of.L, c, C, dashed=False)
        _band(panel, of.looked_at, of.F, c, C, dashed=True)
    last = max(int(of.looked_at[-1]) for of in curves.values())
    drawing.title(panel, letter, "L solid, F dashed, with standard errors")
    drawing.iterations(panel, last)
    panel.set_ylabel("nats per row")
    panel.legend(fontsize=8, frameon=False, loc="lower right")


def _band(panel: Axes, x: Array, runs: Array, c: int, C: int, *, dashed: bool) -> None:
    center, error = runs.mean(axis=0), standard_error(runs)
    # One name for both lines of a C'.
    name = "" if dashed else drawing.label(c, C)
    drawing.curve(panel, x, center, c, name=name, dashed=dashed)
    panel.fill_between(
        x,
        center - error,
        center + error,
        color=drawing.colour(c),
        alpha=0.12,
        linewidth=0,
    )


def _table(curves: dict[int, Curves], size: Size) -> Table:
    header = ("C'", "L", "F", "gap", "phi", "runs")
    rows = [
        (
            str(c),
            mean_text(of.L[:, -1], ".3f"),
            mean_text(of.L[:, -1] - of.gaps, ".3f"),
            mean_text(of.gaps, ".4f"),
            mean_text(of.phi[:, -1], ".4g"),
            str(size.n_runs),
        )
        for c, of in curves.items()
    ]
    title = f"After {size.n_iterations} iterations: mean ± standard error over runs"
    return Table("figure-1-protein", title, header, rows)
