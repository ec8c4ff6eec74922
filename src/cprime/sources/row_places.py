"""Where does a row stand in the file it comes from?"""

import csv
import gzip
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cprime.typing import Array


class Lines(NamedTuple):
    """The lines of a text file, some of which may be empty or only part of a row."""

    path: Path
    delimiter: str
    has_names: bool
    is_compressed: bool

    def number(self, row: int) -> int:
        """Return in which line a row begins; lines count from 1, rows from 0.

        The file is read up to there: this is for messages about what is wrong in it.
        """
        opens = gzip.open if self.is_compressed else open
        with opens(self.path, "rb") as raw:
            text = io.TextIOWrapper(raw, "utf-8", errors="replace", newline="")
            reader = csv.reader(text, delimiter=self.delimiter)
            left, last = row + self.has_names, 0
            try:
                for fields in reader:
                    if fields and left == 0:
                        return last + 1
                    # Of empty lines nothing is read.
                    left -= bool(fields)
                    last = reader.line_num
            except (csv.Error, EOFError, OSError):
                return last + 1
        return last + 1


class RowPlaces:
    """Where the rows of some data stand in their file, of which some may be left out.

    Parameters
    ----------
    lines : Lines, optional
        Of a text file.
    """

    def __init__(self, lines: Lines | None = None):
        self._lines = lines
        self._dropped: list[Array] = []

    @property
    def dropped(self) -> Array:
        """Numbers of the rows that were left out, ascending."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self._dropped])

    def complete(self, batches: Iterable[Array]) -> Iterator[Array]:
        """Yield batches without the rows of which a value is missing."""
        n_rows = 0
        for batch in batches:
            incomplete = np.isnan(batch).any(axis=1)
            self._dropped.append(n_rows + np.flatnonzero(incomplete))
            n_rows += len(batch)
            yield batch[~incomplete] if incomplete.any() else batch

    def __call__(self, row: int) -> str:
        """Return "line 14" of a text file, or else "row 12", counted from 0."""
        dropped = self.dropped
        before = np.searchsorted(dropped - np.arange(len(dropped)), row, side="right")
        row += int(before)
        return (
            f"row {row}" if self._lines is None else f"line {self._lines.number(row)}"
        )
