"""What are the columns of some rows like?"""

from dataclasses import dataclass

import numpy as np

from cprime.typing import Array


@dataclass(frozen=True)
class ColumnStats:
    """Numbers about every column, each of shape (D,), and in the user's units.

    Attributes
    ----------
    n_missing : ndarray, int64
    means, spreads, lowest, highest : ndarray
        Spreads are standard deviations. NaN where all values are missing.
    deviations : ndarray
        How many standard deviations the farthest value is away from the mean.
    farthest_rows : ndarray, int64
        Where that value is.
    """

    n_missing: Array
    means: Array
    spreads: Array
    lowest: Array
    highest: Array
    deviations: Array
    farthest_rows: Array


class ColumnTally:
    """Adds up what `ColumnStats` holds, block by block.

    Sums are taken about the means of the first block, so that nothing cancels for
    values that are large beside their spread.
    """

    def __init__(self, n_features: int):
        self.n_rows = 0
        self.counts = np.zeros(n_features, dtype=np.int64)
        self.about: Array | None = None
        self.sums = np.zeros((2, n_features))
        self.lowest = np.full(n_features, np.inf)
        self.highest = np.full(n_features, -np.inf)
        self.lowest_rows = np.zeros(n_features, dtype=np.int64)
        self.highest_rows = np.zeros(n_features, dtype=np.int64)

    def add(self, first: int, rows: Array) -> None:
        """Look at a block of rows, the first of which has this number."""
        rows = np.asarray(rows, dtype=np.float64)
        missing = np.isnan(rows)
        observed = len(rows) - missing.sum(axis=0)
        if self.about is None:
            total = np.where(missing, 0.0, rows).sum(axis=0)
            self.about = total / np.maximum(observed, 1)
        less = np.where(missing, 0.0, rows - self.about)
        self.n_rows += len(rows)
        self.counts += observed
        self.sums += less.sum(axis=0), (less * less).sum(axis=0)
        for sign, values, at in (
            (1.0, self.lowest, self.lowest_rows),
            (-1.0, self.highest, self.highest_rows),
        ):
            row = np.where(missing, np.inf, sign * rows).argmin(axis=0)
            found = rows[row, np.arange(rows.shape[1])]
            # A comparison with NaN is false: what is missing is never the lowest.
            better = sign * found < sign * values
            values[better] = found[better]
            at[better] = first + row[better]

    def stats(self) -> ColumnStats:
        """Return what was found."""
        assert self.about is not None
        with np.errstate(invalid="ignore", divide="ignore"):
            offset, square = self.sums / self.counts
            means = self.about + offset
            spreads = np.sqrt(np.maximum(square - offset * offset, 0.0))
            lowest, highest = (
                np.where(self.counts > 0, of, np.nan)
                for of in (self.lowest, self.highest)
            )
            # What rounding makes of a constant.
            spreads[lowest == highest] = 0.0
            above = (highest - means) / spreads
            below = (means - lowest) / spreads
        deviations = np.where(spreads > 0, np.maximum(above, below), 0.0)
        return ColumnStats(
            self.n_rows - self.counts,
            means,
            spreads,
            lowest,
            highest,
            deviations,
            np.where(above >= below, self.highest_rows, self.lowest_rows),
        )
