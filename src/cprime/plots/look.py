"""How do pictures look?

Colours are those of Okabe and Ito, which people of any colour vision can tell apart;
what they say is said by a line style, a marker or a word as well, for grey print.
"""

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation

from cprime.typing import Array

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE = "#56B4E9", "#CC79A7"
# Neighbouring clusters differ in these. Yellow and black are left out: one is too light
# for a dot on paper, the other is for words.
OF_CLUSTERS = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE)
INK, QUIET, FAINT = "0.15", "0.4", "0.8"
WORDS, SMALL = 9.0, 8.0
HALO = (withStroke(linewidth=2.2, foreground="white"),)


class Display:
    """A picture: numbers, and where they were drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def _place(self, ax: Axes | None, size: tuple[float, float]) -> Axes:
        """Return where to draw: a new figure of pyplot's, unless there is a place."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=size, layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        tidy(ax)
        return ax


def tidy(ax: Axes) -> None:
    """Leave out what does not tell anything."""
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL)


def label(ax: Axes, x: str | None = None, y: str | None = None) -> None:
    """Name the axes."""
    if x is not None:
        ax.set_xlabel(x, fontsize=WORDS)
    if y is not None:
        ax.set_ylabel(y, fontsize=WORDS)


def heading(ax: Axes, *sentences: str) -> None:
    """Say above the axes what they show, and what they do not, on lines that fit."""
    letters = max(20, int(points_of(ax)[0] / (0.5 * WORDS)))
    lines = [
        line for text in sentences if text for line in textwrap.wrap(text, letters)
    ]
    ax.set_title("\n".join(lines), loc="left", fontsize=WORDS, color=INK)


def legend(ax: Axes, below: float = 36.0, columns: int = 3, **options: Any) -> None:
    """Put the legend below the axes, this many points, where it hides no data."""
    down = ScaledTranslation(0.0, -below / 72.0, ax.figure.dpi_scale_trans)
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=ax.transAxes + down,
        borderaxespad=0.0,
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        handlelength=1.8,
        columnspacing=1.2,
        **options,
    )


def points_of(ax: Axes) -> Array:
    """Return about how wide and high axes are, in points of 1/72 inch."""
    box = ax.get_window_extent()
    return np.array([box.width, box.height]) * 72.0 / ax.figure.dpi


def whole_numbers(ax: Axes) -> None:
    """Let the horizontal axis count."""
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))


def drawn_of(drawn: int, n_rows: int) -> str:
    """Return how many rows are drawn, if not all of them."""
    return "" if drawn >= n_rows else f"Of {n_rows:,} rows, {drawn:,} drawn."


def number(value: float) -> str:
    """Return three digits of a number, as people write it."""
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.3g}"
    return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e")


def cluster_colours(places: Array) -> list[str]:
    """Return a colour for every cluster: the one used farthest away so far.

    Parameters
    ----------
    places : ndarray of shape (C, 1 or 2)
        Where clusters are drawn. The order of clusters decides who chooses first.
    """
    chosen: list[int] = []
    for c, place in enumerate(places):
        apart = ((places[:c] - place) ** 2).sum(axis=1)
        used = np.asarray(chosen, dtype=np.intp)
        nearest = [
            apart[used == k].min(initial=np.inf) for k in range(len(OF_CLUSTERS))
        ]
        chosen.append(int(np.argmax(nearest)))
    return [OF_CLUSTERS[k] for k in chosen]


def apart(ax: Axes, places: Array, points: float) -> list[int]:
    """Return which of some places are so many points away from all earlier ones."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    scale = points_of(ax) / np.array([right - left, high - low])
    on_paper = places * scale
    kept: list[int] = []
    for i, place in enumerate(on_paper):
        if (np.abs(on_paper[kept] - place).max(axis=1) >= points).all():
            kept.append(i)
    return kept
