"""Pictures of results, for readers of all eyes: colour is never the only difference."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

# Colours of M. Petroff's sequences, which keep apart in all kinds of colour vision.
STYLES = {
    "cprime": ("#3f90da", "o"),
    "scikit-learn": ("#e76300", "s"),
    "scikit-learn elkan": ("#a96b59", "P"),
    "intelex": ("#832db6", "D"),
    "faiss": ("#717581", "^"),
    "geokmeans": ("#bd1f01", "v"),
}


def dots(
    rows: Sequence[dict[str, Any]], value: str, xlabel: str, peak: float | None = None
) -> Figure:
    """Draw one line per input and one mark per contestant.

    Parameters
    ----------
    rows : sequence of dict
    value : str
        Which number of a row to show.
    xlabel : str
    peak : float, optional
        A limit to draw, on an axis that starts at zero. Without one it is logarithmic.
    """
    cases = list(dict.fromkeys(row["case"] for row in rows))
    size = (9, 1.6 + 0.42 * len(cases))
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    for name, (colour, marker) in STYLES.items():
        mine = [row for row in rows if row["contestant"] == name]
        if mine:
            ax.plot(
                [row[value] for row in mine],
                [cases.index(row["case"]) for row in mine],
                marker,
                color=colour,
                # Ours is larger and behind, so that a mark on top of it shows both.
                markersize=11 if name == "cprime" else 7,
                zorder=2 if name == "cprime" else 3,
                label=name,
            )
    if peak is None:
        ax.set_xscale("log")
        plain_decades(ax.xaxis)
    else:
        ax.axvline(peak, color="0.3", linestyle="--", label="measured peak")
        ax.set_xlim(left=0.0)
    ax.set(xlabel=xlabel, ylim=(len(cases) - 0.5, -0.5))
    ax.set_yticks(range(len(cases)), cases)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=6, frameon=False)
    return figure


def plain_decades(axis: Axis) -> None:
    """Mark a logarithmic axis at 1, 2 and 5 of every decade, in plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=30))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def growth(ax: Axes, x: Sequence[float], y: Sequence[float], **style: Any) -> None:
    """Draw points and the power law through them, its exponent in the legend."""
    exponent, constant = power_law(x, y)
    label = f"{style.pop('label')}, exponent {exponent:.2f}"
    ax.plot(x, y, linestyle="none", label=label, **style)
    ax.plot(x, constant * np.asarray(x) ** exponent, color=style["color"], alpha=0.6)


def power_law(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Return exponent and constant of the least-squares line in logarithms."""
    exponent, log_constant = np.polyfit(np.log(x), np.log(y), 1)
    return float(exponent), float(np.exp(log_constant))


def save(figure: Figure, folder: Path, name: str) -> str:
    """Write a figure as PNG and return its file name."""
    file = folder / f"{name}.png"
    figure.savefig(file, dpi=110)
    plt.close(figure)
    return file.name
