"""How do pictures look?

Colours are those of Okabe and Ito, which people of any colour vision can tell apart;
what they mean is shown by a line style, a marker or a word as well, for grey print.
"""

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator, ScalarFormatter
from matplotlib.transforms import ScaledTranslation

from cprime.advice.wording import count
from cprime.typing import Array

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE = "#56B4E9", "#CC79A7"
# Neighbouring clusters differ in these. Yellow and black are left out: one is too light
# for a dot on paper, the other is for words.
OF_CLUSTERS = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE)
INK, QUIET, FAINT = "0.15", "0.4", "0.8"
# Sizes of letters, in points; of the lines in legends, in letters.
WORDS, SMALL = 9.0, 8.0
HANDLE = 2.2
HALO = (withStroke(linewidth=2.2, foreground="white"),)
# What lies between F and L.
GAP: dict[str, Any] = {
    "facecolor": ORANGE,
    "alpha": 0.25,
    "hatch": "///",
    "edgecolor": "white",
    "linewidth": 0.0,
}


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
    for axis in (ax.xaxis, ax.yaxis):
        # A number in a corner, to be added to all others, is overlooked.
        if isinstance(formatter := axis.get_major_formatter(), ScalarFormatter):
            formatter.set_useOffset(False)


def label(ax: Axes, x: str | None = None, y: str | None = None) -> None:
    """Name the axes, on lines that fit."""
    width, height = points_of(ax)
    if x is not None:
        ax.set_xlabel(_wrap(x, width), fontsize=WORDS)
    if y is not None:
        ax.set_ylabel(_wrap(y, height), fontsize=WORDS)


def heading(ax: Axes, *sentences: str) -> None:
    """Say above the axes what they show, and what they do not, on lines that fit."""
    width = points_of(ax)[0]
    lines = [_wrap(text, width) for text in sentences if text]
    # Where the user's own title would be, so that it takes the place of this one.
    ax.set_title("\n".join(lines), fontsize=WORDS, color=INK)


def _wrap(text: str, points: float) -> str:
    letters = max(12, int(points / (0.52 * WORDS)))
    return "\n".join(
        line for part in text.split("\n") for line in textwrap.wrap(part, letters)
    )


def legend(ax: Axes, handles: list[Any] | None = None, names: Any = ()) -> None:
    """Put the legend below the axes and their name, no wider than they are.

    Parameters
    ----------
    ax : matplotlib Axes
    handles, names : list, optional
        What to explain. By default whatever was drawn with a label.
    """
    if handles is None:
        handles, names = ax.get_legend_handles_labels()
    widths = SMALL * np.array([0.55 * len(name) + HANDLE + 2.0 for name in names])
    columns = len(names)
    # Wider than the axes it would take their place.
    while columns > 1 and points_of(ax)[0] < sum(
        column.max() for column in np.array_split(widths, columns)
    ):
        columns -= 1
    lines = 1 + ax.get_xlabel().count("\n")
    points = 2.6 * SMALL + 1.45 * WORDS * lines
    down = ScaledTranslation(0.0, -points / 72.0, ax.figure.dpi_scale_trans)
    ax.legend(
        handles,
        names,
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=ax.transAxes + down,
        borderaxespad=0.0,
        borderpad=0.0,
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        handlelength=HANDLE,
        columnspacing=1.2,
        # Two lines with one meaning stand side by side.
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.6)},
    )


def points_of(ax: Axes) -> Array:
    """Return about how wide and high axes are, in points of 1/72 inch."""
    box = ax.get_window_extent()
    return np.array([box.width, box.height]) * 72.0 / ax.figure.dpi


def in_proportion(ax: Axes, low: Array, high: Array) -> tuple[Array, Array]:
    """Set limits so that both axes have the same scale and fill their place.

    Parameters
    ----------
    ax : matplotlib Axes
    low, high : ndarray of shape (2,)
        What is to be seen at least.

    Returns
    -------
    low, high : ndarray of shape (2,)
        What is seen.
    """
    place = points_of(ax)
    wanted = place * ((high - low) / place).max()
    middle = 0.5 * (low + high)
    low, high = middle - 0.5 * wanted, middle + 0.5 * wanted
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_aspect("equal")
    return low, high


def whole_numbers(ax: Axes) -> None:
    """Let the horizontal axis count."""
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))


def drawn_of(drawn: int, n_rows: int, C: int) -> str:
    """Return how many rows and clusters there are, and if not all rows are drawn."""
    rows = f"{count(n_rows, 'row')} in {count(C, 'cluster')}"
    return f"Of {rows}, {drawn:,} drawn." if drawn < n_rows else f"{rows}."


def left_out(n_missing: int) -> str:
    """Return how many rows cannot be drawn, if any."""
    return f"Left out: {count(n_missing, 'incomplete row')}." if n_missing else ""


def bulk(points: Array, tail: float, reach: float) -> Array:
    """Return which points the limits of a picture are made for, shape (N,), bool.

    All, unless some are so far out that they would leave no room for the others.

    Parameters
    ----------
    points : ndarray of shape (N, M)
    tail : float
        Share of the points that may be far out, on either side.
    reach : float
        Farther out than so many times the range of the others.
    """
    low, high = np.quantile(points, (tail, 1.0 - tail), axis=0)
    far = reach * (high - low)
    near: Array = ((points >= low - far) & (points <= high + far)).all(axis=1)
    return near


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
    """Return which places are so many points away from earlier ones and the border."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    size = points_of(ax)
    on_paper = (places - [left, low]) * size / [right - left, high - low]
    inside = ((on_paper > points) & (on_paper < size - points)).all(axis=1)
    # A layout still to come may make the axes smaller.
    points *= 1.25
    kept: list[int] = []
    for i in np.flatnonzero(inside):
        if (np.abs(on_paper[kept] - on_paper[i]).max(axis=1) >= points).all():
            kept.append(int(i))
    return kept
