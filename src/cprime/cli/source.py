"""Which rows does a command read, and how are they named on a command line?"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any


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
    """

    path: Path
    columns: str | None
    header: bool | None
    memory: str | None
    scratch: Path | None

    def rows(self, names: list[str] | None = None) -> Any:
        """Return the rows as `Data`; warn if it is a guess what their columns are.

        Parameters
        ----------
        names : list of str, optional
            Names of columns to take in place of `columns`.
        """
        from cprime.sources import open_data

        columns = self.columns if names is None else names
        data = open_data(
            self.path,
            columns,
            memory=self.memory,
            scratch=self.scratch,
            header=self.header,
        )
        if data.columns.is_guess:
            warnings.warn(data.columns.decision, stacklevel=2)
        return data

    def companions(self, columns: str) -> Any:
        """Return other columns of the same rows, of any type, in batches."""
        from cprime.sources.passthrough import passthrough

        return passthrough(self.path, columns, self.memory, self.header)

    @property
    def typed(self) -> list[str]:
        """The file and its columns, as they are typed after a command."""
        columns = [] if self.columns is None else ["--columns", self.columns]
        return [*self.typed_for_model, *columns]

    @property
    def typed_for_model(self) -> list[str]:
        """The same for a command with a model, which knows its columns."""
        return [str(self.path), *self.typed_header]

    @property
    def typed_header(self) -> list[str]:
        """What the user specified about the first line."""
        if self.header is None:
            return []
        return ["--header" if self.header else "--no-header"]
