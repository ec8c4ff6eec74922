"""How the figures look."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cprime.typing import Array

# By C': k-means, two, several; and all of them.
COLOURS = {1: "#bd1f01", 2: "#3f90da", 5: "#2f9e44", 10: "#2f9e44"}
OF_ALL = "#9aa0a6"
# Curves that coincide are seen as layers, the wider below.
WIDTHS = {1: 1.0, 2: 1.5, 5: 2.6, 10: 2.6}
WIDTH_OF_ALL = 4.0
# By the number of clusters a run has missed; None is the mean of all runs.
MISSED_COLOURS = {0: "#bd1f01", 1: "#3f90da", 2: "#2f9e44", None: "#717581"}
# Measures as axes name them.
MEASURES = {"L": "likelihood L", "phi": "φ", "purity": "purity", "nmi": "NMI"}
TRUTH, FOUND = "#3f90da", "#bd1f01"
DASHES = (0, (6, 2))


def colour(C_prime: int) -> str:
    """Return the colour of k-means-C'."""
    return COLOURS.get(C_prime, OF_ALL)


def curve(
    panel: Axes, x: Array, y: Array, C_prime: int, *, name: str = "", dashed: bool
) -> None:
    """Draw a curve of k-means-C'."""
    width = WIDTHS.get(C_prime, WIDTH_OF_ALL)
    # Dashes are as long on a wide line as on a narrow one.
    dashes = (0, (6.0 / width, 2.5 / width)) if dashed else "-"
    panel.plot(
        x,
        y,
        color=colour(C_prime),
        linewidth=width,
        linestyle=dashes,
        dash_capstyle="butt",
        zorder=3.0 - 0.1 * width,
        label=name or None,
    )


def printed(
    panel: Axes, value: float, colour: str, *, hollow: bool, place: int = 1
) -> None:
    """Point at a value the paper prints, from a place outside the right edge."""
    low, high = panel.get_ylim()
    if low <= value <= high:
        panel.plot(
            [0.99 + 0.025 * place],
            [value],
            marker="<",
            markersize=5,
            color=colour,
            markerfacecolor="white" if hollow else colour,
            transform=panel.get_yaxis_transform(),
            clip_on=False,
        )


def arrow_at_start(panel: Axes, value: float, name: str) -> None:
    """Point with an arrow at a value at the left edge."""
    symbol, _, index = name.partition("_")
    panel.annotate(
        f"${symbol}_{{\\mathrm{{{index}}}}}$",
        (0.0, value),
        xycoords=panel.get_yaxis_transform(),
        xytext=(0.13, value),
        textcoords=panel.get_yaxis_transform(),
        ha="left",
        va="center",
        fontsize=9,
        arrowprops={"arrowstyle": "-|>", "color": "black", "linewidth": 0.8},
        annotation_clip=False,
    )


def printed_at_start(panel: Axes, value: float) -> None:
    """Point at a value the paper prints for the start, from outside the left edge."""
    panel.plot(
        [-0.015],
        [value],
        marker=">",
        markersize=5,
        color=MISSED_COLOURS[None],
        markerfacecolor="white",
        transform=panel.get_yaxis_transform(),
        clip_on=False,
    )


def iterations(panel: Axes, last: int) -> None:
    """Let the horizontal axis count iterations."""
    panel.set(xlabel="iteration", xlim=(0, last))
    panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def label(C_prime: int, C: int) -> str:
    """Return what k-means-C' is called in legends."""
    if C_prime == 1:
        return "C'=1 (k-means)"
    return f"C'={C_prime} (EM)" if C_prime == C else f"C'={C_prime}"


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1) -> Any:
    """Return a figure and its panels, as an array of shape (rows, columns)."""
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for panel in panels.flat:
        tidy(panel)
    return figure, panels


def tidy(panel: Axes) -> None:
    """Leave out what does not tell anything."""
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)


def title(panel: Axes, letter: str, text: str) -> None:
    """Head a panel as the paper does, with a letter."""
    panel.set_title(f"$\\bf{{{letter}}}$  {text}", loc="left", fontsize=10)


def line_across(panel: Axes, height: float, text: str, where: str = "bottom") -> None:
    """Draw a thin line at some value, with its name at the right end."""
    low, high = panel.get_ylim()
    if not low < height < high:
        return
    panel.axhline(height, color="0.45", linewidth=0.8, zorder=1)
    panel.annotate(
        text,
        (1.0, height),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 2 if where == "bottom" else -2),
        textcoords="offset points",
        ha="right",
        va=where,
        fontsize=7,
        color="0.35",
    )


def clusters(panel: Axes, data: Array, centers: Array, found: Array) -> None:
    """Draw rows, true centres and found means."""
    panel.plot(*data.T, ".", markersize=1.0, color="0.75", zorder=1, rasterized=True)
    panel.plot(
        *centers.T, "o", markersize=9, markerfacecolor="none", color=TRUTH, label="true"
    )
    panel.plot(*np.asarray(found).T, "x", markersize=6, color=FOUND, label="found")
    panel.set_aspect("equal")
    panel.set_xticks([])
    panel.set_yticks([])
    panel.grid(False)
    panel.spines[:].set_visible(False)
