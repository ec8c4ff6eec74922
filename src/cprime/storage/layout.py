"""Where in a file does every array lie?

One after another, each at a multiple of 64 bytes. So the header names arrays, their
types and shapes, and no file can say that two of them overlap.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

ALIGNMENT = 64
DTYPES = ("<f4", "<f8", "<i4", "<i8", "<u4", "|u1", "|b1")
MOST_AXES = 8
LONGEST_NAME = 200
# Sizes, also of what is empty, are numbers that numpy can count with.
MOST_BYTES = 2**60


@dataclass(frozen=True)
class Place:
    """Where an array lies."""

    dtype: str
    shape: tuple[int, ...]
    offset: int

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def end(self) -> int:
        return self.offset + self.nbytes


def aligned(offset: int) -> int:
    """Return the first place for an array from here on."""
    return -(-offset // ALIGNMENT) * ALIGNMENT


def table(arrays: Mapping[str, Any]) -> list[list[Any]]:
    """Return what a header says about arrays that have a dtype and a shape."""
    return [[name, of.dtype, list(of.shape)] for name, of in arrays.items()]


def placed(lines: Any, start: int) -> dict[str, Place]:
    """Return where the arrays of a table lie, or say why they cannot.

    Parameters
    ----------
    lines : list
        As it was found in a header.
    start : int
        Where the header ends.
    """
    if not isinstance(lines, list):
        raise ValueError("its header does not list its arrays")
    places: dict[str, Place] = {}
    for line in lines:
        name, dtype, shape = _checked(line)
        if name in places:
            raise ValueError(f"its header declares the array {name!r} twice")
        places[name] = Place(dtype, shape, aligned(start))
        start = places[name].end
    return places


def end(places: dict[str, Place], start: int) -> int:
    """Return where the last array ends; `start` if there are none."""
    return max((place.end for place in places.values()), default=start)


def _checked(line: Any) -> tuple[str, str, tuple[int, ...]]:
    if not (isinstance(line, list) and len(line) == 3):
        raise ValueError("its header does not declare arrays by name, type and shape")
    name, dtype, shape = line
    if not (isinstance(name, str) and len(name) <= LONGEST_NAME and _is_name(name)):
        raise ValueError(f"{name!r:.60} is not a valid name of an array")
    if not (isinstance(dtype, str) and dtype in DTYPES):
        raise ValueError(f"the array {name!r} is of an unknown type: {dtype!r:.60}")
    is_shape = isinstance(shape, list) and len(shape) <= MOST_AXES
    if not (is_shape and all(type(n) is int and n >= 0 for n in shape)):
        raise ValueError(f"the array {name!r} has an impossible shape: {shape!r:.60}")
    if prod(max(n, 1) for n in shape) * np.dtype(dtype).itemsize > MOST_BYTES:
        raise ValueError(f"the array {name!r} is larger than any memory: {shape!r:.60}")
    return name, dtype, tuple(shape)


def _is_name(name: str) -> bool:
    return name.isascii() and all(part.isidentifier() for part in name.split("."))
