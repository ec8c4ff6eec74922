"""The little of the FlatBuffers format that says how large Arrow's batches are.

Stops tables that refer beyond the bytes they are in: that raises `struct.error`.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

LENGTH = struct.Struct("<I")
OFFSET = struct.Struct("<i")
SLOT = struct.Struct("<H")
BYTE = struct.Struct("<B")


class Table(NamedTuple):
    """Fields that may be there or not, at a place in some bytes."""

    data: bytes
    at: int

    @classmethod
    def root(cls, data: bytes) -> "Table":
        """Return the table that all others are in."""
        return cls(data, LENGTH.unpack_from(data, 0)[0])

    def place(self, field: int) -> int | None:
        """Return where the value of a field is, if it is there."""
        slots = self.at - OFFSET.unpack_from(self.data, self.at)[0]
        if slots < 0:
            raise struct.error
        slot = 4 + 2 * field
        if slot >= SLOT.unpack_from(self.data, slots)[0]:
            return None
        (offset,) = SLOT.unpack_from(self.data, slots + slot)
        return self.at + int(offset) if offset else None

    def byte(self, field: int) -> int:
        """Return a field that is one byte; 0 if it is not there."""
        place = self.place(field)
        return 0 if place is None else int(BYTE.unpack_from(self.data, place)[0])

    def table(self, field: int) -> "Table | None":
        """Return the table a field refers to."""
        place = self.place(field)
        return None if place is None else Table(self.data, self._far(place))

    def structs(self, field: int, kind: str) -> Iterator[tuple[int, ...]]:
        """Yield the structs of a list, in the format of `struct`."""
        place = self.place(field)
        if place is None:
            return
        start = self._far(place)
        one, count = struct.Struct(kind), LENGTH.unpack_from(self.data, start)[0]
        if count * one.size > len(self.data):
            raise struct.error
        for i in range(count):
            yield one.unpack_from(self.data, start + 4 + i * one.size)

    def _far(self, place: int) -> int:
        return int(place + LENGTH.unpack_from(self.data, place)[0])
