"""How much memory may rows take, and where do those go that do not fit?"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cprime.blocks import LEAF_ROWS
from cprime.sources.columns import Columns
from cprime.sources.data import Data
from cprime.sources.memory import in_words
from cprime.sources.prefetch import BUFFERS
from cprime.sources.row_file import RowFile
from cprime.sources.row_places import Lines, RowPlaces
from cprime.sources.spill import collect_rows
from cprime.typing import Array

# Of the memory a user allows, what rows may take: clusters, and batches before they are
# put together, need the rest.
SHARE_OF_ROWS = 0.5
# What a part of a file may always take while it is read: so much takes Python, too.
LEAST_AT_ONCE = 2**26


def read_limit(memory: int) -> int:
    """Return how many bytes a part of a file may take while it is read."""
    return max(memory, LEAST_AT_ONCE)


@dataclass(frozen=True)
class Budget:
    """Bytes of memory, and a folder for what they do not hold.

    Attributes
    ----------
    memory : int
    scratch : Path
    drop_missing : bool, default=False
        Whether rows of which a value is missing are left out.
    """

    memory: int
    scratch: Path
    drop_missing: bool = False

    @property
    def row_memory(self) -> int:
        """Bytes of rows that are held in memory."""
        return int(SHARE_OF_ROWS * self.memory)

    def collect(
        self,
        batches: Iterable[Array],
        n_features: int,
        dtype: Any,
        columns: Columns,
        origin: str,
        declared: int | None = None,
        lines: Lines | None = None,
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
            What the user calls these rows.
        declared : int, optional
            How many there should be.
        lines : Lines, optional
            In which the rows stand, of a text file.
        """
        places = RowPlaces(lines)
        if self.drop_missing:
            batches, declared = places.complete(batches), None
        rows = collect_rows(
            batches, n_features, dtype, self.row_memory, self.scratch, declared
        )
        return self.data(rows, columns, origin, places)

    def data(
        self,
        rows: Array | RowFile,
        columns: Columns,
        origin: str,
        places: RowPlaces | None = None,
    ) -> Data:
        """Return these rows, unless there are none, or one takes too much."""
        N, D = rows.shape
        if N == 0 and places is not None and len(places.dropped):
            raise ValueError(
                f"Every row of {origin} has a missing value: impute them, or leave "
                "columns out."
            )
        if N == 0:
            raise ValueError(f"{origin} has no rows.")
        if isinstance(rows, RowFile):
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
            places=places,
        )
