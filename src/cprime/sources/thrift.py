"""The little of Thrift's compact protocol that headers of Parquet pages are made of."""

from typing import NamedTuple

# Kinds of values, by the four bits that stand for them.
TRUE, FALSE, BYTE = 1, 2, 3
NUMBERS = (4, 5, 6)
DOUBLE, BINARY, LISTS, STRUCT = 7, 8, (9, 10), 12
DEEPEST = 8


class TruncatedError(Exception):
    """The bytes end before the value does."""


class DamagedError(Exception):
    """These bytes are none of Thrift's."""


class Numbers(NamedTuple):
    """The whole numbers of a struct by their field, and where the struct ends."""

    fields: dict[int, int]
    end: int


def numbers_of(data: bytes, at: int = 0, depth: int = 0) -> Numbers:
    """Read a struct, and keep those of its fields that are whole numbers."""
    fields: dict[int, int] = {}
    field = 0
    while True:
        head, at = _byte(data, at), at + 1
        kind, step = head & 15, head >> 4
        if kind == 0:
            return Numbers(fields, at)
        if step == 0:
            field, at = _signed(data, at)
        else:
            field += step
        if kind in NUMBERS:
            fields[field], at = _signed(data, at)
        else:
            at = _skipped(data, at, kind, depth)


def _skipped(data: bytes, at: int, kind: int, depth: int) -> int:
    """Return where a value of this kind ends."""
    if depth > DEEPEST:
        raise DamagedError
    if kind in (TRUE, FALSE):
        return at
    if kind == BYTE:
        return at + 1
    if kind in NUMBERS:
        return _signed(data, at)[1]
    if kind == DOUBLE:
        return at + 8
    if kind == BINARY:
        length, at = _unsigned(data, at)
        return at + length
    if kind == STRUCT:
        return numbers_of(data, at, depth + 1).end
    if kind not in LISTS:
        raise DamagedError
    size, inner, at = _byte(data, at) >> 4, _byte(data, at) & 15, at + 1
    if size == 15:
        size, at = _unsigned(data, at)
    for _ in range(size):
        # In lists, a truth takes a byte.
        at = at + 1 if inner in (TRUE, FALSE) else _skipped(data, at, inner, depth + 1)
        if at > len(data):
            raise TruncatedError
    return at


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
