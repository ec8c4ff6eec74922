"""Which rows does a command read, and how are they named on a command line?"""

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
    memory : str or None
    scratch : path or None
    """

    path: Path
    columns: str | None
    memory: str | None
    scratch: Path | None

    def rows(self, wanted: list[str] | None = None) -> Any:
        """Return the rows as `Data`.

        Parameters
        ----------
        wanted : list of str, optional
            Names of columns to take in place of `columns`.
        """
        from cprime.sources import open_data

        columns = self.columns if wanted is None else wanted
        return open_data(self.path, columns, memory=self.memory, scratch=self.scratch)

    def companions(self, columns: str) -> Any:
        """Return other columns of the same rows, of any type, in batches."""
        from cprime.sources.companions import companions

        return companions(self.path, columns, self.memory)

    @property
    def typed(self) -> list[str]:
        """The file and its columns, as they are typed after a command."""
        return [str(self.path), *(["--columns", self.columns] if self.columns else [])]
