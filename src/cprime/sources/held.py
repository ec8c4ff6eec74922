"""A block of rows as a worker holds it, with what it remembers of them."""

from collections import OrderedDict
from threading import Lock
from typing import Any

from cprime.sources.chunks import put_together
from cprime.typing import Array

# Of so many sweeps the clusters of the rows are remembered: the one before, and one
# that was tried and may be taken back.
REMEMBERED = 2


class HeldBlock:
    """Rows on a worker, and the clusters they were given in the last sweeps.

    What is remembered never leaves the worker. If the block moves, or is lost and made
    again elsewhere, it is found out anew.

    Attributes
    ----------
    first : int
        Number of the first row.
    values : ndarray of shape (B, D)
    """

    def __init__(self, first: int, values: Array):
        self.first = first
        self.values = values
        self._remembered: OrderedDict[str, Any] = OrderedDict()
        self._lock = Lock()

    @classmethod
    def of(cls, first: int, *pieces: Array) -> "HeldBlock":
        """Return consecutive pieces as one block."""
        return cls(first, put_together(*pieces))

    def recall(self, key: str) -> Any:
        """Return what is remembered under a key, or None."""
        with self._lock:
            if key not in self._remembered:
                return None
            self._remembered.move_to_end(key)
            return self._remembered[key]

    def remember(self, key: str, kept: Any) -> None:
        """Remember it, and forget what was not asked for longest."""
        with self._lock:
            self._remembered[key] = kept
            while len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)

    def __sizeof__(self) -> int:
        # What Dask takes it for: rows are not moved for nothing, as a small thing is.
        return int(self.values.nbytes)

    def __reduce__(self) -> Any:
        return HeldBlock, (self.first, self.values)
