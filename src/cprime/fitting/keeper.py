"""What of a fit is kept while it runs? Nothing, unless there is a checkpoint."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from cprime.fitting.restarts import State
from cprime.rows import Rows


class Keeper:
    """Keeps nothing: a fit without a checkpoint."""

    keeps = False
    finished = False
    message = ""

    def random_state(self, given: Any) -> np.random.RandomState:
        """Return the random numbers of a fit, from where it began."""
        found: np.random.RandomState = check_random_state(given)
        return found

    def restored(self, rows: Rows, C: int, seeding: str) -> State:
        """Return how far the fit has come: not at all, unless one was under way."""
        return State()

    def keep(self, state: State) -> None:
        """Write a state if it is time to."""

    def interrupted(self, state: State) -> None:
        """Write the last state of a fit that someone stops."""

    def finish(self, state: State) -> None:
        """Write the last state of a fit, in which all restarts are complete."""
