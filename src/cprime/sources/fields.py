"""What do the fields of a text file hold: numbers, text, or nothing?"""

import math
import re
from enum import Enum, auto
from itertools import pairwise

MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
# What else people and programs write where there is no value, in small letters.
PLACEHOLDERS = frozenset(
    {
        *("na", "n/a", "n.a.", "nan", "nil", "none", "null"),
        *("missing", "unknown", "undefined"),
        *("#n/a", "#na", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"),
    }
)
INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan)",
    re.ASCII | re.IGNORECASE,
)


# Rows that rise by equal steps in so many lines do not do so by chance.
LINES_KEPT = 6


class Kind(Enum):
    """What a field holds, by how it is written."""

    INTEGER = auto()
    DECIMAL = auto()
    TEXT = auto()
    PLACEHOLDER = auto()
    MISSING = auto()


NUMBERS = frozenset({Kind.INTEGER, Kind.DECIMAL})


def kind_of(field: str) -> Kind:
    """Return what a field holds; a decimal is any number not written as an integer."""
    if field in MISSING:
        return Kind.MISSING
    text = field.strip()
    if INTEGER.fullmatch(text):
        return Kind.INTEGER
    if NUMBER.fullmatch(text):
        return Kind.DECIMAL
    if is_sign(text) or text.casefold() in PLACEHOLDERS:
        return Kind.PLACEHOLDER
    return Kind.TEXT


def is_sign(field: str) -> bool:
    """Return whether a field has neither letters nor digits, as "-" or "?"."""
    return not any(character.isalnum() for character in field)


class Column:
    """What stands in one column below the first line.

    Parameters
    ----------
    first : str
        The field of the first line.

    Attributes
    ----------
    integers, decimals, texts : int
        How many fields are such.
    same : int
        How many fields have the value of the first line.
    lowest, highest : float
        Of the numbers.
    has_quoted_numbers : bool
    """

    def __init__(self, first: str):
        self._first = first
        self._value = float(first) if kind_of(first) in NUMBERS else math.nan
        self.integers = self.decimals = self.texts = self.same = 0
        self.lowest, self.highest = math.inf, -math.inf
        self.has_quoted_numbers = False

    def add(self, field: str, is_quoted: bool) -> None:
        """Take note of the field of one row."""
        kind = kind_of(field)
        if kind in NUMBERS:
            self.integers += kind is Kind.INTEGER
            self.decimals += kind is Kind.DECIMAL
            value = float(field)
            self.same += value == self._value
            if math.isfinite(value):
                self.lowest = min(self.lowest, value)
                self.highest = max(self.highest, value)
            self.has_quoted_numbers |= is_quoted
        elif kind is Kind.TEXT:
            self.texts += 1
            self.same += field == self._first

    @property
    def is_outside(self) -> bool:
        """Whether the number of the first line is lower, or higher, than all below."""
        return not self.lowest <= self._value <= self.highest

    @property
    def is_numeric(self) -> bool:
        """Whether there are numbers, and no text."""
        return self.integers + self.decimals > 0 and not self.texts

    @property
    def has_only_integers(self) -> bool:
        return self.integers > 0 and not self.decimals + self.texts

    @property
    def has_no_integers(self) -> bool:
        """Whether there are numbers or text, but no integers."""
        return self.decimals + self.texts > 0 and not self.integers


class Below:
    """What stands in some rows below the first line, column by column.

    Parameters
    ----------
    first : list of str
        The fields of the first line.
    """

    def __init__(self, first: list[str]):
        self.columns = [Column(field) for field in first]
        self.n_rows = 0
        self._lines = [first]

    def add(self, fields: list[str], are_quoted: list[bool]) -> None:
        """Take note of a row."""
        for column, field, is_quoted in zip(self.columns, fields, are_quoted):
            column.add(field, is_quoted)
        self.n_rows += 1
        if len(self._lines) < LINES_KEPT:
            self._lines.append(fields)

    def repeats(self, places: list[int]) -> bool:
        """Return whether every row holds there what the first line does."""
        same = [self.columns[i].same for i in places]
        return self.n_rows > 0 and min(same) == self.n_rows

    def goes_on(self, places: list[int]) -> bool:
        """Return whether there the rows rise from the first line by equal steps."""
        fields = [line[i] for line in self._lines for i in places]
        if len(self._lines) < 3 or any(kind_of(f) not in NUMBERS for f in fields):
            return False
        lines = [[float(line[i]) for i in places] for line in self._lines]
        steps = [[b - a for a, b in zip(*two)] for two in pairwise(lines)]
        return all(
            step > 0.0 and math.isclose(step, first, rel_tol=1e-6)
            for step_of_all in steps
            for step, first in zip(step_of_all, steps[0])
        )
