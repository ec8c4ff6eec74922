"""The little of Thrift's compact protocol that Parquet says what it holds in.

Stops lists and structs that count or nest beyond the bytes they are in.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

# Kinds of values, by the four bits that stand for them.
TRUE, FALSE, BYTE = 1, 2, 3
NUMBERS = (4, 5, 6)
DOUBLE, BINARY, LISTS, STRUCT = 7, 8, (9, 10), 12
DEEPEST = 12
# Bytes of the shortest struct that says anything: a field, a value, the end.
LEAST_STRUCT = 3

# Fields to keep, and of those that hold fields themselves, which of them.
Wanted = Mapping[int, Any]
NOTHING: Wanted = {}


class TruncatedError(Exception):
    """The bytes end before the value does."""


class DamagedError(Exception):
    """These bytes are none of Thrift's."""


class Struct(NamedTuple):
    """Wanted fields that are there, and where the struct ends."""

    fields: dict[int, Any]
    end: int


def struct_at(data: bytes, at: int, wanted: Wanted, depth: int = 0) -> Struct:
    """Read a struct, and keep whole numbers and structs that are wanted of it."""
    fields: dict[int, Any] = {}
    field = 0
    while True:
        head, at = _byte(data, at), at + 1
        kind, step = head & 15, head >> 4
        if kind == 0:
            return Struct(fields, at)
        if step:
            field += step
        else:
            field, at = _signed(data, at)
        if field in wanted:
            fields[field], at = _value(data, at, kind, wanted[field], depth)
        else:
            _, at = _value(data, at, kind, NOTHING, depth)


def _value(
    data: bytes, at: int, kind: int, wanted: Wanted, depth: int
) -> tuple[Any, int]:
    """Return a value, if it is one to be kept, and where it ends."""
    if depth > DEEPEST:
        raise DamagedError
    if kind in NUMBERS:
        return _signed(data, at)
    if kind in (TRUE, FALSE):
        return None, at
    if kind == BYTE:
        return None, at + 1
    if kind == DOUBLE:
        return None, at + 8
    if kind == BINARY:
        length, at = _unsigned(data, at)
        return None, at + length
    if kind == STRUCT:
        return struct_at(data, at, wanted, depth + 1)
    if kind in LISTS:
        return _list(data, at, wanted, depth + 1)
    raise DamagedError


def _list(data: bytes, at: int, wanted: Wanted, depth: int) -> tuple[Any, int]:
    head, at = _byte(data, at), at + 1
    size, kind = head >> 4, head & 15
    if size == 15:
        size, at = _unsigned(data, at)
    if size * (LEAST_STRUCT if kind == STRUCT else 1) > len(data) - at:
        raise TruncatedError
    values = []
    for _ in range(size):
        # In lists, a truth takes a byte.
        kind = BYTE if kind in (TRUE, FALSE) else kind
        value, at = _value(data, at, kind, wanted, depth)
        if wanted:
            values.append(value)
    return values, at


def _signed(data: bytes, at: int) -> tuple[int, int]:
    value, at = _unsigned(data, at)
    return (value >> 1) ^ -(value & 1), at


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte, at = _byte(data, at), at + 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise DamagedError


def _byte(data: bytes, at: int) -> int:
    if at >= len(data):
        raise TruncatedError
    return data[at]
