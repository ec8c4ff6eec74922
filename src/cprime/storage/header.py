"""What may the header of one of our files say, and how is it read from strangers?

JSON without its loose ends: no NaN, no infinity, no integer beyond 64 bits, no key
twice, no text that is not Unicode, nothing nested deeper than anything of ours is.
"""

import json
import math
from typing import Any

# Room for the names of several hundred thousand features. Parsed, a header takes up to
# some thirty times as much.
LONGEST = 2**23
DEEPEST = 24
SMALLEST_INT, LARGEST_INT = -(2**63), 2**64 - 1


def encoded(header: dict[str, Any]) -> bytes:
    """Return a header as bytes, or say what of it cannot be kept."""
    try:
        text = json.dumps(
            header,
            ensure_ascii=False,
            allow_nan=False,
            sort_keys=True,
            separators=(",", ":"),
        )
        content = text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"this cannot be kept in a file: {error}") from error
    if len(content) > LONGEST:
        raise ValueError(
            f"names and parameters take {len(content)} bytes, more than a header may "
            f"have ({LONGEST})"
        )
    # What is written can be read.
    parsed(content)
    return content


def parsed(content: bytes) -> dict[str, Any]:
    """Return a header, or raise a ValueError that says what is wrong with it."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError("its header is not UTF-8") from error
    try:
        header = json.loads(
            text,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_number,
            object_pairs_hook=_without_repetition,
        )
    except RecursionError as error:
        raise ValueError("its header is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"its header is not JSON ({error.msg})") from error
    if not isinstance(header, dict):
        raise ValueError("its header is not an object")
    _refuse_depths_and_half_characters(header)
    return header


def _integer(digits: str) -> int:
    # Longer ones are not even converted, which takes time that grows with its square.
    value = int(digits) if len(digits) <= 20 else LARGEST_INT + 1
    if not SMALLEST_INT <= value <= LARGEST_INT:
        raise ValueError("its header holds an integer of more than 64 bits")
    return value


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"its header holds {text[:20]}, which is not a finite number")
    return value


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("its header holds the same name twice")
    return found


def _refuse_depths_and_half_characters(header: dict[str, Any]) -> None:
    level: list[Any] = [header]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, str):
                _refuse_half_characters(value)
            elif isinstance(value, dict):
                inner += value.keys()
                inner += value.values()
            elif isinstance(value, list):
                inner += value
        level = inner
    if level:
        raise ValueError("its header is nested too deeply")


def _refuse_half_characters(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("its header holds text that is not Unicode") from error
