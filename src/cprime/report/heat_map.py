"""In which columns do clusters differ, as a table that can be read on a phone?"""

from collections.abc import Sequence
from dataclasses import dataclass

from cprime.advice.wording import plain, signed
from cprime.plots import ProfileDisplay
from cprime.typing import Array

# Colours change every half of a standard deviation, up to so many of them.
STEP, LEVELS = 0.5, 4
LONGEST_NAME = 24


@dataclass(frozen=True)
class HeatLine:
    """One column of the data: its name, and a level and a text for every cluster."""

    name: str
    cells: list[tuple[str, str]]


@dataclass(frozen=True)
class HeatMap:
    """A line for every column that is shown, a place in it for every cluster.

    Attributes
    ----------
    clusters : list of int
        Largest first.
    lines : list of HeatLine
        Levels are from "m4" (far below all rows) over "z" to "p4" (far above).
    left_out : list of str
        What is not shown, in sentences.
    """

    clusters: list[int]
    lines: list[HeatLine]
    left_out: list[str]


def heat_map(profile: Array, names: Sequence[str], shares: Array) -> HeatMap:
    """Return the heat map of a profile.

    Parameters
    ----------
    profile : ndarray of shape (C, D)
        How far clusters are from all rows, in standard deviations of those.
    names : sequence of str
        Of the columns.
    shares : ndarray of shape (C,)
        Of the rows.
    """
    display = ProfileDisplay(profile, names, shares)
    display.select()
    lines = [
        HeatLine(
            plain(names[d], LONGEST_NAME),
            [_cell(profile[c, d]) for c in display.clusters],
        )
        for d in display.features
    ]
    return HeatMap(display.clusters.tolist(), lines, display.left_out())


def _cell(deviation: float) -> tuple[str, str]:
    text = "0" if abs(deviation) < 0.05 else signed(deviation)
    steps = min(round(abs(deviation) / STEP), LEVELS)
    if steps == 0:
        return "z", text
    return f"{'p' if deviation > 0 else 'm'}{steps}", text
