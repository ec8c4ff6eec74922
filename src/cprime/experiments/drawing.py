"""How the figures look."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cprime.typing import Array

# By C': k-means, two, several, all.
COLOURS = {1: "#bd1f01", 2: "#3f90da", 5: "#2f9e44", 10: "#2f9e44"}
OF_ALL = "#717581"
# By the number of clusters a run has missed; None is the mean of all runs.
MISSED_COLOURS = {0: "#bd1f01", 1: "#3f90da", 2: "#2f9e44", None: "#717581"}
TRUTH, FOUND = "#3f90da", "#bd1f01"
DASHES = (0, (6, 2))


def colour(C_prime: int) -> str:
    """Return the colour of k-means-C'."""
    return COLOURS.get(C_prime, OF_ALL)


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
    """Draw a thin line at a published or true value, with its name at the right end."""
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
