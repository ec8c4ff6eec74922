"""One feature: how are rows spread, and which density did the mixture find?"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cprime.advice.wording import count
from cprime.plots import look

# Up to so many clusters a curve each, in the colours and styles of the first.
CURVES = 12
STYLES = ("--", "-.", ":")
POINTS = 1_000
BARS = 60
# One in so many rows may lie outside of the picture, if far enough out.
TAIL, REACH = 0.02, 1.0


def draw_density(ax: Axes, display: Any) -> None:
    """Draw rows as a histogram, the density and its components as curves.

    Parameters
    ----------
    ax : matplotlib Axes
    display : MapDisplay
        Of one feature.
    """
    values = display.known[:, 0]
    near = values[look.bulk(values[:, None], TAIL, REACH)]
    low, high = near.min(), near.max()
    if low == high:
        margin = max(abs(high), 1.0) * 1e-3
        low, high = low - margin, high + margin
    edges = np.linspace(low, high, min(BARS, max(8, int(len(values) ** 0.5))) + 1)
    counts, _ = np.histogram(values, edges)
    # Of all rows, also those outside of the picture.
    heights = counts / (len(values) * np.diff(edges))
    ax.bar(
        edges[:-1],
        heights,
        np.diff(edges),
        align="edge",
        color=look.FAINT,
        label="rows",
    )
    ax.set_xlim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    look.label(ax, y="density")
    if display.covariances is not None:
        _draw_curves(ax, display)
    ax.plot(
        display.means[:, 0],
        np.zeros(len(display.means)),
        linestyle="none",
        marker="^",
        markersize=6 if len(display.means) <= CURVES else 4,
        markerfacecolor="white",
        markeredgecolor=look.INK,
        clip_on=False,
        zorder=5,
        label="centres",
    )
    outside = len(values) - len(near)
    look.heading(
        ax,
        look.drawn_of(len(display.points), display.n_rows, len(display.means)),
        look.left_out(len(display.points) - len(values)),
        f"Outside of the picture: {count(outside, 'drawn row')}." if outside else "",
    )
    look.legend(ax)


def _draw_curves(ax: Axes, display: Any) -> None:
    x = np.linspace(*ax.get_xlim(), POINTS)
    total = np.zeros(len(x))
    few = len(display.means) <= CURVES
    order = np.argsort(-display.weights, kind="stable")
    for i, c in enumerate(order):
        variance = display.covariances[c, 0, 0]
        squared = (x - display.means[c, 0]) ** 2 / variance
        curve = display.weights[c] * np.exp(-0.5 * squared)
        curve /= np.sqrt(2.0 * np.pi * variance)
        total += curve
        ax.plot(
            x,
            curve,
            color=look.OF_CLUSTERS[i % len(look.OF_CLUSTERS)] if few else look.QUIET,
            linestyle=STYLES[i % len(STYLES)] if few else "-",
            linewidth=1.3 if few else 0.5,
            label="clusters" if i == 0 else None,
        )
    ax.plot(x, total, color=look.INK, linewidth=1.8, label="their mixture")
    ax.set_ylim(0.0, 1.08 * max(total.max(), ax.get_ylim()[1] / 1.05))
