"""How are names and reasons from outside shown, whatever they hold?"""

from collections.abc import Sequence

LONGEST_NAME = 40
LONGEST_PATH = 160
LONGEST_REASON = 200
LONGEST_TEXT = 2000


def short(text: str, most: int = LONGEST_TEXT) -> str:
    """Return a text, or how it begins if it is longer than anybody would read."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def shown(path: object) -> str:
    """Return a path, or another name, as a short line that can be printed."""
    text = str(path)
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= LONGEST_PATH else f"...{text[3 - LONGEST_PATH :]}"


def quoted(name: str) -> str:
    """Return the name of a column in quotes, not too much of it, in one line."""
    return repr(short(name, LONGEST_NAME))


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return the first of these names, and how many more there are."""
    first = ", ".join(quoted(name) for name in names[:most])
    return first + (f" and {len(names) - most} more" if len(names) > most else "")


def reason(error: object) -> str:
    """Return what a library says of an error: its first line, if it is not too long."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    line = lines[0] if lines[0].isprintable() else repr(lines[0])[1:-1]
    return short(line, LONGEST_REASON).rstrip(".: ")
