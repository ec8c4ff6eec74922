"""Does the first line of a text file name the columns, or is it a row?

Text alone is names, decimals above decimals are a row. Integers may be either. They are
names if they count, as those that pandas writes by itself or years do, and stand out
from the columns below. What is left open is refused.
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cprime.sources.display import listed, reason, shown
from cprime.sources.fields import NUMBERS, Below, Kind, is_sign, kind_of

# In fewer rows, that a value is missing from a column says little.
FEWEST_ROWS = 10
YEARS = range(1000, 3000)
# So many integers do not rise one by one by chance.
MANY = 10
# Longer integers do not count anything.
LONGEST_INTEGER = 18


class Header(NamedTuple):
    """Whether a first line names the columns.

    Attributes
    ----------
    has_names : bool
    decision : str
        How that was decided, a sentence.
    is_guess : bool
        Whether it may well be wrong.
    """

    has_names: bool
    decision: str
    is_guess: bool = False


class _Verdict(NamedTuple):
    """What a first line is: names, a row, or None; and why, where that is not plain."""

    has_names: bool | None
    why: str = ""


PLAIN_NAMES, PLAIN_ROW = _Verdict(True), _Verdict(False)


def as_given(header: bool, name: str) -> Header:
    """Return the header of a file as its user states it."""
    what = "holds the names of the columns" if header else "is a row"
    return Header(header, f"The first line of {name} {what}, as header={header} says.")


def check_header(header: Any) -> bool | None:
    """Return whether there is a header, as a user says, or None."""
    if header is not None and not isinstance(header, bool | np.bool_):
        raise ValueError(
            f"header={reason(repr(header))} should be True (the first line holds "
            "names), False (it is a row) or None."
        )
    return None if header is None else bool(header)


def refuse_header(header: bool | None, origin: object) -> None:
    """Raise if something is said of the first line of what is no text file."""
    if header is not None:
        raise ValueError(
            f"header={header} is about the first line of a text file, and "
            f"{shown(origin)} is none: leave it out."
        )


def decide(
    fields: list[str], are_quoted: list[bool], below: Below, name: str
) -> Header:
    """Decide whether a first line names the columns, or refuse with both readings.

    Parameters
    ----------
    fields : list of str
        Of the first line.
    are_quoted : list of bool
        Which of them stand in quotation marks.
    below : Below
        Some rows below it.
    name : str
        Of the file.
    """
    has_names, why = _verdict(fields, are_quoted, below)
    line = f"The first line of {name}"
    if has_names is None:
        raise ValueError(
            f"{line}, {reason(listed(fields, 3))}, may hold the names of the columns "
            f"or be a row: {why}. Use header=True (names) or header=False "
            "(a row) of cprime.open_data."
        )
    what = "holds the names of the columns" if has_names else "is a row"
    if not why:
        return Header(has_names, f"{line} {what}.")
    taken = "for the names of the columns" if has_names else "for a row"
    other = "is a row" if has_names else "holds names"
    return Header(
        has_names,
        f"{line} is taken {taken}: {why}. Use header={not has_names} if it {other}.",
        is_guess=True,
    )


def are_names(fields: list[str]) -> bool:
    """Return whether a line holds text and no numbers, whatever is below it."""
    kinds = [kind_of(field) for field in fields]
    texts = [f for f, kind in zip(fields, kinds) if kind is not Kind.MISSING]
    return NUMBERS.isdisjoint(kinds) and not all(is_sign(text) for text in texts)


def _verdict(fields: list[str], are_quoted: list[bool], below: Below) -> _Verdict:
    if are_names(fields):
        return PLAIN_NAMES
    kinds = [kind_of(field) for field in fields]
    numbers = [i for i, kind in enumerate(kinds) if kind in NUMBERS]
    if not numbers:
        return _of_signs(kinds, below)
    columns = [below.columns[i] for i in numbers]
    if (
        all(are_quoted[i] for i in numbers)
        and any(column.is_numeric for column in columns)
        and not any(column.has_quoted_numbers for column in columns)
    ):
        return _Verdict(
            True, "its numbers are in quotation marks, and those below are not"
        )
    found = _of_numbers([fields[i] for i in numbers], numbers, below)
    texts = [i for i, kind in enumerate(kinds) if kind is Kind.TEXT]
    return _beside_text(found, fields, numbers, texts, below) if texts else found


def _of_signs(kinds: list[Kind], below: Below) -> _Verdict:
    """Return what a line is that holds nothing but signs, as "-", or nothing at all."""
    signs = [i for i, kind in enumerate(kinds) if kind is not Kind.MISSING]
    if signs and not any(below.columns[i].is_numeric for i in signs):
        return PLAIN_NAMES
    return PLAIN_ROW


def _of_numbers(fields: list[str], places: list[int], below: Below) -> _Verdict:
    """Return what the numbers of a line make of it.

    Parameters
    ----------
    fields : list of str
        Those of the line that are numbers.
    places : list of int
        Where they stand.
    below : Below
    """
    columns = [below.columns[i] for i in places]
    kinds = {kind_of(field) for field in fields}
    if len({field.strip() for field in fields}) < len(fields) or len(kinds) > 1:
        return PLAIN_ROW
    enough = below.n_rows >= FEWEST_ROWS
    if enough and _are_marks(fields) and all(column.is_outside for column in columns):
        return _Verdict(
            None, "it rises or falls in equal steps, outside the columns below"
        )
    if kinds == {Kind.DECIMAL}:
        if all(column.has_only_integers for column in columns):
            return _Verdict(None, "it holds decimals above columns of integers")
        return PLAIN_ROW
    odd = [column.has_no_integers for column in columns]
    stands_out = all(odd) or (enough and any(odd))
    if not _do_count(fields):
        if stands_out:
            return _Verdict(None, "it holds integers above columns without any")
        return PLAIN_ROW
    if enough and below.repeats(places):
        return PLAIN_ROW
    if below.goes_on(places):
        return _Verdict(False, "the rows below go on from it in equal steps")
    if stands_out:
        return _Verdict(True, "it counts in integers, and columns below hold none")
    if not enough:
        return _Verdict(None, "it counts as names may, and there are few rows below")
    if not any(column.same for column in columns):
        return _Verdict(True, "it counts, and its numbers are not in the columns below")
    if len(fields) >= MANY:
        return _Verdict(True, "it counts, and the rows below do not go on like that")
    return _Verdict(
        None, "it counts as names may, and its numbers are in the columns below, too"
    )


def _are_marks(fields: list[str]) -> bool:
    """Return whether numbers are those of a scale, as wavelengths or censuses are.

    Integers that count are looked at more closely.
    """
    values = [float(field) for field in fields]
    steps = [after - before for before, after in pairwise(values)]
    if len(steps) < 2 or steps[0] == 0.0:
        return False
    if all(kind_of(field) is Kind.INTEGER for field in fields) and _do_count(fields):
        return False
    return all(math.isclose(step, steps[0], rel_tol=1e-6) for step in steps)


def _do_count(fields: list[str]) -> bool:
    """Return whether integers count, rising one by one, as names do.

    From 0, as pandas names columns by itself; two or more years; any three or more.
    """
    if any(len(field.strip()) > LONGEST_INTEGER for field in fields):
        return False
    first, *rest = values = [int(field) for field in fields]
    if values != list(range(first, first + len(values))):
        return False
    return first == 0 or len(rest) > 1 or (len(rest) > 0 and first in YEARS)


def _beside_text(
    found: _Verdict,
    fields: list[str],
    numbers: list[int],
    texts: list[int],
    below: Below,
) -> _Verdict:
    """Return what a line of text and numbers is, by what its numbers make of it."""
    above_numbers = {fields[i] for i in texts if below.columns[i].is_numeric}
    if any(below.columns[i].same for i in texts):
        if found.has_names is False and not above_numbers:
            return _Verdict(False, "its text stands in the same columns below")
    elif found.has_names:
        return found
    elif len(above_numbers) > 1:
        return _Verdict(True, "it holds several texts above columns of numbers")
    elif all(kind_of(fields[i]) is Kind.INTEGER for i in numbers):
        if all(below.columns[i].has_no_integers for i in numbers):
            return _Verdict(True, "it holds text, and integers above other numbers")
        if above_numbers and _do_count([fields[i] for i in numbers]):
            return _Verdict(True, "it holds text above numbers, and counts")
    return _Verdict(None, "it holds both text and numbers")
