"""Which columns of a file are wanted?"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

Wanted = str | Sequence[str] | None


def patterns(columns: Wanted) -> list[str] | None:
    """Return names and patterns one by one: "a,f*" is ["a", "f*"]."""
    if columns is None:
        return None
    asked = columns.split(",") if isinstance(columns, str) else list(columns)
    if not all(isinstance(pattern, str) for pattern in asked):
        raise ValueError(f"columns={columns!r} should be names or patterns, as 'f*'.")
    return [
        pattern.strip() if isinstance(columns, str) else pattern for pattern in asked
    ]


def chosen(names: Sequence[str], columns: Wanted, origin: str) -> list[int]:
    """Return the places of the wanted columns, in the order they are asked for.

    Parameters
    ----------
    names : sequence of str
        Of all columns.
    columns : str, list of str or None
        Names, or patterns of them such as "f*"; None is all of them.
    origin : str
        What has these columns.
    """
    asked = patterns(columns)
    if asked is None:
        return list(range(len(names)))
    places: dict[int, None] = {}
    missing: list[str] = []
    for pattern in asked:
        # A name is itself, whatever it has of a pattern's signs.
        found = [i for i, name in enumerate(names) if name == pattern]
        found = found or [
            i for i, name in enumerate(names) if fnmatchcase(name, pattern)
        ]
        missing += [] if found else [pattern]
        places |= dict.fromkeys(found)
    if missing:
        column = "column" if len(missing) == 1 else "columns"
        raise ValueError(
            f"{origin} has no {column} {listed(missing)}: it has {listed(names)}."
        )
    return list(places)


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return the first of these names, and how many more there are."""
    shown = ", ".join(repr(_short(name)) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def _short(name: str, most: int = 40) -> str:
    return name if len(name) <= most else f"{name[: most - 3]}..."
