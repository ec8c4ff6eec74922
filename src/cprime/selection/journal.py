"""What has a search computed so far, so that it can be gone through once more?"""

import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Value = TypeVar("Value")


class Journal:
    """Remembers nothing: a search without a checkpoint."""

    def now(self) -> float:
        """Return the seconds that the search has taken, from any beginning."""
        return time.perf_counter()

    def recall(self, compute: Callable[[], Value]) -> Value:
        """Return what a step of the search computes."""
        return compute()


class KeptJournal(Journal):
    """Remembers what was computed, in the order in which it was asked for.

    A search asks for the same things in the same order whenever it is run: with what
    one that was stopped has computed, another one is there at once.

    Parameters
    ----------
    entries : iterable of (float, object)
        The seconds that each step took, and what it came to.
    keep : callable
        Is called after every new step.
    """

    def __init__(
        self, entries: Iterable[tuple[float, Any]], keep: Callable[[], object]
    ):
        self.entries = list(entries)
        self._keep = keep
        self._n_recalled = 0
        self._seconds_saved = 0.0

    def now(self) -> float:
        return time.perf_counter() + self._seconds_saved

    def recall(self, compute: Callable[[], Value]) -> Value:
        if self._n_recalled == len(self.entries):
            began = time.perf_counter()
            value = compute()
            self.entries.append((time.perf_counter() - began, value))
            self._n_recalled += 1
            self._keep()
            return value
        seconds, known = self.entries[self._n_recalled]
        self._n_recalled += 1
        self._seconds_saved += seconds
        found: Value = known
        return found


FORGETS = Journal()
