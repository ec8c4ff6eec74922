"""What an experiment shows: figures, tables, and verdicts on what was published."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

# Stands where a reason is owed: nothing we ship may say so.
UNEXPLAINED = "The runs made here do not show it, and we do not know why."


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
    holds : bool or None
        None if these runs are not enough to tell.
    why : str
        What a reader should know; of what does not hold, the reason.
    """

    claim: str
    published: str
    measured: str
    spread: str
    holds: bool | None
    why: str = ""

    def __post_init__(self) -> None:
        if not self.holds and not self.why:
            object.__setattr__(self, "why", UNEXPLAINED)

    @property
    def mark(self) -> str:
        """A tick, a cross, or a dash for what cannot be told."""
        return {True: "✓", False: "✗", None: "-"}[self.holds]


def score(verdicts: Sequence[Verdict]) -> str:
    """Return how many verdicts hold, in a sentence."""
    judged = [verdict for verdict in verdicts if verdict.holds is not None]
    held = sum(verdict.holds is True for verdict in judged)
    sentence = f"{held} of {len(judged)} published numbers and claims hold"
    others = len(verdicts) - len(judged)
    return f"{sentence}; {others} not judged." if others else f"{sentence}."


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
