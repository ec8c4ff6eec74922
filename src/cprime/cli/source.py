"""Which rows does a command read, and how are they named on a command line?"""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cprime.advice import wording
from cprime.cli.model_spec import Missing

# Names of columns are in quotation marks: they are not rows.
ROW = re.compile(r"(?<!['\"\w])row (\d+)\b")


@contextmanager
def naming_lines(rows: Any) -> Iterator[None]:
    """Let errors of what is computed with rows say where they stand in their file."""
    try:
        yield
    except ValueError as error:
        message = ROW.sub(lambda found: rows.place_of(int(found[1])), str(error))
        raise ValueError(message) from error


@dataclass(frozen=True)
class Source:
    """A file, and how it is to be read.

    Attributes
    ----------
    path : path
    columns : str or None
    header : bool or None
        Whether the first line of a text file names its columns.
    memory : str or None
    scratch : path or None
    drop : str or None
        Columns to leave out.
    missing : Missing, default=Missing.error
    weights_column : str or None
        Says how often each row counts.
    cluster : str or None
        Address of the cluster whose workers read it.
    """

    path: Path
    columns: str | None
    header: bool | None
    memory: str | None
    scratch: Path | None
    drop: str | None = None
    missing: Missing = Missing.error
    weights_column: str | None = None
    cluster: str | None = None

    def rows(self, names: list[str] | None = None) -> Any:
        """Return the rows as `Data`; warn if it is a guess what their columns are.

        Parameters
        ----------
        names : list of str, optional
            Names of columns to take in place of `columns`.
        """
        from cprime.sources import open_data
        from cprime.sources.columns import Selection

        columns = self.columns if names is None else names
        if self.cluster is not None:
            from cprime.sources.cluster_folder import open_on_cluster

            left_out = self._left_out if names is None else None
            return open_on_cluster(self.path, Selection(columns, left_out))
        data = open_data(
            self.path,
            columns,
            memory=self.memory,
            scratch=self.scratch,
            header=self.header,
            drop=self._left_out if names is None else None,
            drop_missing=self.missing == Missing.drop,
        )
        if n_dropped := len(data.place_of.dropped):
            total = wording.count(data.n_rows + n_dropped, "row")
            has = wording.either(n_dropped, "has", "have")
            warnings.warn(
                f"{wording.count(n_dropped)} of {total} {has} missing values and "
                f"{wording.either(n_dropped, 'is', 'are')} left out.",
                stacklevel=2,
            )
        if data.columns.is_guess:
            warnings.warn(data.columns.decision, stacklevel=2)
        return data

    def training(self, standardize: bool) -> tuple[Any, Any]:
        """Return rows to fit, standardized or not, and their weights or None."""
        from cprime.sources.standardize import shift_and_scale

        rows = self.rows()
        weights = self._weights_of(rows)
        if standardize:
            rows = rows.scaled(*shift_and_scale(rows, weights))
        return rows, weights

    @property
    def _left_out(self) -> list[str] | None:
        names = [] if self.drop is None else [n.strip() for n in self.drop.split(",")]
        names += [] if self.weights_column is None else [self.weights_column]
        return names or None

    def _weights_of(self, rows: Any) -> Any:
        """Return the weights of rows, or say which cannot be one."""
        import numpy as np

        from cprime.sources import open_data
        from cprime.sources.display import quoted

        if self.weights_column is None:
            return None
        name = self.weights_column
        if self.cluster is not None:
            from cprime.sources.cluster_folder import open_on_cluster

            return open_on_cluster(self.path, [name]).one_column()
        data = open_data(self.path, [name], memory=self.memory, header=self.header)
        weights = np.delete(data.load()[:, 0], rows.place_of.dropped)
        wrong = ~(np.isfinite(weights) & (weights >= 0.0))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"Column {quoted(name)} of {rows.origin} holds {weights[row]:g} at "
                f"{rows.place_of(row)}, which is not a weight: weights are 0 or larger."
            )
        return weights

    def companions(self, columns: str) -> Any:
        """Return other columns of the same rows, of any type, in batches."""
        from cprime.sources.passthrough import passthrough

        return passthrough(self.path, columns, self.memory, self.header)

    @property
    def typed(self) -> list[str]:
        """The file and its columns, as they are typed after a command."""
        given = {
            "--columns": self.columns,
            "--drop": self.drop,
            "--weights": self.weights_column,
        }
        more = [w for name, of in given.items() if of is not None for w in (name, of)]
        return [*self.typed_for_model, *more]

    @property
    def typed_for_model(self) -> list[str]:
        """The same for a command with a model, which knows its columns."""
        kept = self.missing == Missing.error
        missing = [] if kept else ["--missing", self.missing.value]
        return [str(self.path), *self.typed_header, *missing]

    @property
    def typed_cluster(self) -> list[str]:
        """What the user specified about where the work is done."""
        return [] if self.cluster is None else ["--cluster", self.cluster]

    @property
    def typed_header(self) -> list[str]:
        """What the user specified about the first line."""
        if self.header is None:
            return []
        return ["--header" if self.header else "--no-header"]
