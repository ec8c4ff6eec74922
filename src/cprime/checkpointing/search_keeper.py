"""What of a search for the number of clusters is kept, and when?"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from cprime.advice.wording import count
from cprime.checkpointing import search_codec
from cprime.checkpointing.keeper import KeptFit
from cprime.selection.journal import FORGETS, Journal, KeptJournal


class Unkept:
    """Keeps nothing: a search without a checkpoint."""

    def random_state(self, given: Any) -> np.random.RandomState:
        """Return the random numbers of a search, from where it began."""
        found: np.random.RandomState = check_random_state(given)
        return found

    def journal(self, n_features: int) -> Journal:
        """Return what the search has computed so far, and goes on to write."""
        return FORGETS

    def write(self, finished: bool = False) -> None:
        """Write all steps so far."""


class SearchKeeper(KeptFit, Unkept):
    """Keeps the steps of a search in the folder of a checkpoint."""

    _journal: KeptJournal

    def journal(self, n_features: int) -> Journal:
        entries: list[search_codec.Entry] = []
        if self._resumes:
            with self._rotation.opened() as file:
                told = file.header.get("steps")
                entries = search_codec.unpacked(told, dict(file.arrays), n_features)
        self._journal = KeptJournal(entries, self._keep)
        at = count(len(entries), "step")
        self._checkpoint.say(self._beginning(f"{at} of the search"))
        if not self._resumes:
            # A folder that cannot be written to is better known now than later.
            self.write()
        return self._journal

    def write(self, finished: bool = False) -> None:
        if not self.finished:
            arrays: dict[str, Any] = {}
            steps = search_codec.packed(self._journal.entries, arrays)
            self._write_with({"steps": steps}, arrays, finished)
            self.finished = finished

    def _keep(self) -> None:
        if self._is_due:
            self.write()
