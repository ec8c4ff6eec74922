"""Which columns of a file are wanted, and what are they called?"""

from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from cprime.sources.display import listed, quoted, reason

# What makes a name a pattern.
SIGNS = frozenset("*?[")


class Selection(NamedTuple):
    """Columns that are wanted, None is all, and those of them to leave out."""

    columns: str | Sequence[str] | None
    drop: str | Sequence[str] | None


Wanted = str | Sequence[str] | Selection | None


class Columns(NamedTuple):
    """What the columns of data are, and how that was decided.

    Attributes
    ----------
    names : tuple of str, or None
        None if they have none: they are then called "0", "1", ...
    decision : str
        Where the names come from, a sentence. Of a text file, whether its first line
        holds them, and why.
    is_guess : bool
        Whether `decision` may well be wrong, and `header` of `open_data` should be
        given.
    """

    names: tuple[str, ...] | None
    decision: str
    is_guess: bool = False

    @classmethod
    def of(cls, names: Sequence[str] | None, origin: str) -> "Columns":
        """Return columns of which it is plain whether they have names."""
        have = "no names" if names is None else "names there"
        named = None if names is None else tuple(names)
        return cls(named, f"The columns of {origin} have {have}.")


def patterns(columns: Any, parameter: str = "columns") -> list[str] | None:
    """Return names and patterns one by one: "a,f*" is ["a", "f*"]."""
    if columns is None:
        return None
    if isinstance(columns, str):
        return [pattern.strip() for pattern in columns.split(",")]
    asked = list(columns) if isinstance(columns, Iterable) else []
    if not asked or not all(isinstance(pattern, str) for pattern in asked):
        raise ValueError(
            f"{parameter}={reason(repr(columns))} should be names or patterns, as 'f*'."
        )
    return asked


def choose(names: Sequence[str], columns: Wanted, origin: str) -> list[int]:
    """Return the places of the wanted columns, in the order they are asked for.

    Parameters
    ----------
    names : sequence of str
        Of all columns.
    columns : str, list of str, Selection or None
        Names, or patterns of them such as "f*"; None is all of them.
    origin : str
        What has these columns.
    """
    wanted, drop = columns if isinstance(columns, Selection) else (columns, None)
    left_out = set(_matching(names, patterns(drop, "drop") or [], origin))
    asked = patterns(wanted)
    found = range(len(names)) if asked is None else _matching(names, asked, origin)
    return _refuse_duplicates(names, [i for i in found if i not in left_out], origin)


def _matching(names: Sequence[str], asked: list[str], origin: str) -> Iterable[int]:
    """Return the places of columns, or say which of those asked for there are not."""
    places_of: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        places_of.setdefault(name, []).append(i)
    places: dict[int, None] = {}
    missing: list[str] = []
    for pattern in asked:
        # A name is itself, whatever it has of a pattern's signs.
        found = places_of.get(pattern, [])
        if not found and SIGNS.intersection(pattern):
            found = [i for i, name in enumerate(names) if fnmatchcase(name, pattern)]
        missing += [] if found else [pattern]
        places |= dict.fromkeys(found)
    if missing:
        column = "column" if len(missing) == 1 else "columns"
        raise ValueError(
            f"{origin} has no {column} {listed(missing)}: it has {listed(names)}."
        )
    return places


def _refuse_duplicates(
    names: Sequence[str], places: Iterable[int], origin: str
) -> list[int]:
    places = list(places)
    if not places:
        left = " left" if names else ""
        raise ValueError(f"{origin} has no columns{left}.")
    (name, count), *_ = Counter(names[i] for i in places).most_common(1)
    if count > 1:
        raise ValueError(
            f"{origin} has {count} columns named {quoted(name)}: give them names of "
            "their own, or choose other columns."
        )
    return places
