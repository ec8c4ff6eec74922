"""What memory and disk there are for rows, and whether rows are put there sensibly."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cprime.blocks import LEAF_ROWS
from cprime.sources.ahead import BUFFERS
from cprime.sources.columns import Columns
from cprime.sources.data import Data
from cprime.sources.gathered import gathered
from cprime.sources.memory import in_words
from cprime.sources.raw import RawRows
from cprime.typing import Array

# Of the memory a person allows, what rows may take: clusters, and what is gathered in
# batches before it lies together, need the rest.
SHARE_OF_ROWS = 0.5
# What a part of a file may always take while it is read: so much takes Python, too.
LEAST_AT_ONCE = 2**26


def at_once(memory: int) -> int:
    """Return how many bytes a part of a file may take while it is read."""
    return max(memory, LEAST_AT_ONCE)


@dataclass(frozen=True)
class Room:
    """Bytes of memory, and a folder for what they do not hold."""

    memory: int
    scratch: Path

    @property
    def fits(self) -> int:
        """Bytes of rows that are held in memory."""
        return int(SHARE_OF_ROWS * self.memory)

    def gathered(
        self,
        batches: Iterable[Array],
        n_features: int,
        dtype: Any,
        columns: Columns,
        origin: str,
        declared: int | None = None,
    ) -> Data:
        """Return the rows of batches, in memory if they fit.

        Parameters
        ----------
        batches : iterable of ndarray of shape (any, n_features)
        n_features : int
        dtype : dtype
        columns : Columns
            What they are.
        origin : str
            What a person calls these rows.
        declared : int, optional
            How many there should be.
        """
        rows = gathered(batches, n_features, dtype, self.fits, self.scratch, declared)
        return self.data(rows, columns, origin)

    def data(self, rows: Array | RawRows, columns: Columns, origin: str) -> Data:
        """Return these rows, unless there are none, or one takes too much."""
        N, D = rows.shape
        if N == 0:
            raise ValueError(f"{origin} has no rows.")
        if isinstance(rows, RawRows):
            least = BUFFERS * min(N, LEAF_ROWS) * rows.row_bytes
            if least > self.memory:
                raise ValueError(
                    f"{origin} has {D} columns, so many that a few thousand rows take "
                    f"{in_words(least)}: allow that as `memory`, or choose fewer."
                )
        return Data(
            rows,
            columns=columns,
            origin=origin,
            memory=self.memory,
            scratch=self.scratch,
        )
