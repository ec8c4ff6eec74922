"""What an experiment shows: figures, tables, and verdicts on what was published."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
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


class Kind(StrEnum):
    """What a verdict says of a number or claim."""

    PINS_DOWN = "pins down"
    CONSISTENT = "consistent"
    CONTRADICTS = "contradicts"
    NOT_JUDGED = "not judged"


MEANINGS = (
    "A verdict pins down what was run if the same number or claim, held against each "
    "of at least four wrong ways to run it, fails every time. It is consistent if it "
    "holds, but would hold for one of those as well, or was held against fewer; the "
    "column to its right counts those ruled out, and names those that are not."
)
# Wrong ways that a verdict must rule out before it pins anything down.
FEWEST_ALTERNATIVES = 4


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
    alternatives : dict of bool
        Whether it would hold too if something else had been run, by what.
    """

    claim: str
    published: str
    measured: str
    spread: str
    holds: bool | None
    why: str = ""
    alternatives: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.holds is not None:
            # numpy's False is not False.
            object.__setattr__(self, "holds", bool(self.holds))
        if not self.holds and not self.why:
            object.__setattr__(self, "why", UNEXPLAINED)

    @property
    def kind(self) -> Kind:
        """How much it says."""
        if self.holds is None:
            return Kind.NOT_JUDGED
        if not self.holds:
            return Kind.CONTRADICTS
        enough = len(self.alternatives) >= FEWEST_ALTERNATIVES
        return Kind.PINS_DOWN if enough and not self.passing else Kind.CONSISTENT

    @property
    def passing(self) -> list[str]:
        """The wrong ways that it does not notice."""
        return [name for name, holds in self.alternatives.items() if holds]

    @property
    def ruled_out(self) -> list[str]:
        """The wrong ways that it notices."""
        return [name for name, holds in self.alternatives.items() if not holds]

    @property
    def power(self) -> str:
        """How many wrong ways it rules out, and the others by name."""
        if self.holds is None or not self.alternatives:
            return ""
        counts = f"{len(self.ruled_out)} of {len(self.alternatives)}"
        return f"{counts}; not {', '.join(self.passing)}" if self.passing else counts


def score(verdicts: Sequence[Verdict]) -> str:
    """Return how many verdicts are of which kind, in a sentence."""
    counts = Counter(verdict.kind for verdict in verdicts)
    judged = len(verdicts) - counts[Kind.NOT_JUDGED]
    sentence = (
        f"Of {judged} printed numbers and claims, the runs pin down "
        f"{counts[Kind.PINS_DOWN]}, are consistent with {counts[Kind.CONSISTENT]} and "
        f"contradict {counts[Kind.CONTRADICTS]}"
    )
    others = counts[Kind.NOT_JUDGED]
    return f"{sentence}; {others} are not judged." if others else f"{sentence}."


def power_table(verdicts: Sequence[Verdict]) -> Table:
    """Return which wrong ways each verdict rules out, and which pass unnoticed."""
    rows = [
        (
            verdict.kind.value,
            verdict.claim,
            f"{len(verdict.ruled_out)} of {len(verdict.alternatives)}",
            ", ".join(verdict.ruled_out),
            ", ".join(verdict.passing),
        )
        for verdict in verdicts
        if verdict.alternatives and verdict.holds is not None
    ]
    header = ("verdict", "claim", "ruled out", "which", "not told apart")
    return Table("power", "What every verdict rules out", header, rows)


def alternatives_table(verdicts: Sequence[Verdict]) -> Table:
    """Return how many verdicts notice each wrong way."""
    noticed: dict[str, list[bool]] = {}
    for verdict in verdicts:
        if verdict.holds:
            for name, holds in verdict.alternatives.items():
                noticed.setdefault(name, []).append(not holds)
    frequent = sorted(noticed.items(), key=lambda of: (-len(of[1]), of[0]))
    rows = [
        (name, str(len(of)), str(sum(of)), f"{sum(of) / len(of):.0%}")
        for name, of in frequent
        if len(of) >= FEWEST_ALTERNATIVES
    ]
    header = ("run instead", "verdicts that hold", "notice it", "share")
    title = "How many verdicts would notice that something else was run"
    return Table("alternatives", title, header, rows)


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
