"""What an experiment shows: figures, tables, and verdicts on what was published."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Table:
    """Rows of text under a header."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Verdict:
    """One published number or claim, and whether the measurement bears it out.

    Attributes
    ----------
    claim : str
    published : str
    measured : str
    spread : str
        Over what the measurement varies, and how much; empty if it does not.
    holds : bool
    why : str
        What a reader should know; not empty where `holds` is false for a reason.
    """

    claim: str
    published: str
    measured: str
    spread: str
    holds: bool
    why: str = ""


@dataclass(frozen=True)
class Exhibit:
    """One table or figure of the paper, as measured.

    Attributes
    ----------
    title : str
    text : str
        What the paper shows there and how it was measured here.
    figures : dict of matplotlib Figures by name
    tables : list of Table
    verdicts : list of Verdict
    """

    title: str
    text: str
    figures: dict[str, Any] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
