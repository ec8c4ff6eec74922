"""What is written about every row, and how does it get into a file?"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cprime.cli.outputs import free_name, table_file
from cprime.cli.progress import Follower

COLUMNS = ("label", "probability", "runner_up", "log_density", "outlier_score")


@dataclass(frozen=True)
class LabelCounts:
    """How many rows were labelled, and how many of them deserve a look.

    Attributes
    ----------
    rows : int
    ambiguous : int
        Rows whose own cluster has less than three quarters of their probability.
    outliers : int or None
        Rows farther from their cluster than 999 of 1000 of its rows should be.
    """

    rows: int
    ambiguous: int
    outliers: int | None


def write_labels(
    path: Path,
    estimator: Any,
    data: Any,
    follow: Follower,
    kept: Iterator[Any] | None = None,
) -> LabelCounts:
    """Write a table with a line for every row of the data, block by block.

    Parameters
    ----------
    path : path
    estimator : estimator
        Fitted.
    data : Data
        Scaled as the estimator wants it.
    follow : Follower
        Notified of how far it is.
    kept : iterator of pyarrow RecordBatch, optional
        Other columns of the same rows, to go before the labels.
    """
    import numpy as np
    import pyarrow as pa

    from cprime.advice import AMBIGUOUS
    from cprime.estimators.predictions import predictions

    beside = None if kept is None else _Rebatcher(kept)
    ambiguous, outliers = 0, 0
    has_density = False
    with table_file(path, data.n_rows) as write:
        for start, found in predictions(estimator, data):
            columns = {n: v for n in COLUMNS if (v := getattr(found, n)) is not None}
            if beside is not None:
                columns = _beside(beside.next(len(found.label)), columns)
            write(pa.table(columns))
            ambiguous += int(np.count_nonzero(found.probability < AMBIGUOUS))
            if found.outlier_score is not None:
                has_density = True
                outliers += int(np.count_nonzero(found.outlier_score > 0.999))
            follow.rows(start + len(found.label), data.n_rows)
    return LabelCounts(data.n_rows, ambiguous, outliers if has_density else None)


def _beside(kept: Any, ours: dict[str, Any]) -> dict[str, Any]:
    """Return kept columns, then ours; one of theirs with our name keeps it.

    Ours is then called cprime_label, say.
    """
    theirs = {name: kept.column(name) for name in kept.schema.names}
    return theirs | {free_name(name, theirs): of for name, of in ours.items()}


class _Rebatcher:
    """Takes batches of any size apart into pieces of the sizes asked for."""

    def __init__(self, batches: Iterator[Any]):
        self._batches = batches
        self._waiting: Any = None

    def next(self, n_rows: int) -> Any:
        """Return a table of the next rows."""
        import pyarrow as pa

        parts: list[Any] = []
        missing = n_rows
        while missing > 0:
            if self._waiting is None or self._waiting.num_rows == 0:
                self._waiting = next(self._batches)
            part = self._waiting.slice(0, missing)
            self._waiting = self._waiting.slice(part.num_rows)
            parts.append(part)
            missing -= part.num_rows
        return pa.Table.from_batches(parts)
