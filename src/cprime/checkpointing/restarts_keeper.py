"""What of the restarts of a fit is kept, and when?"""

import time
from typing import Any

from cprime.checkpointing import state_codec
from cprime.checkpointing.identity import difference
from cprime.checkpointing.keeper import KeptFit
from cprime.fitting.restarts import State
from cprime.fitting.run_restarts import Keeper
from cprime.rows import Rows


class RestartsKeeper(KeptFit, Keeper):
    """Keeps the restarts of a fit in the folder of a checkpoint."""

    keeps = True
    _seeding: str

    def restored(self, rows: Rows, C: int, seeding: str) -> State:
        state = State()
        if self._resumes:
            with self._rotation.opened() as file:
                told = file.header.get("state")
                state = state_codec.unpacked(told, dict(file.arrays), rows, C)
                if self.finished and state.best is None:
                    raise ValueError("it holds no fit, but says that it had finished")
            self._refuse([difference("seeding", file.header.get("seeding"), seeding)])
        self._seeding, self._last = seeding, time.monotonic()
        self.message = self._where(state)
        self._checkpoint.say(self.message)
        if not self._resumes:
            # A folder that cannot be written to is better known now than later.
            self._write(state)
        return state

    def keep(self, state: State) -> None:
        if self._is_due:
            self._write(state)

    def interrupted(self, state: State) -> None:
        # One that is finished was written, and one that has not begun says nothing.
        if not self.finished and state != State():
            self._write(state)

    def finish(self, state: State) -> None:
        if not self.finished:
            self._write(state, finished=True)
            self.finished = True

    def _write(self, state: State, finished: bool = False) -> None:
        arrays: dict[str, Any] = {}
        header = {
            "seeding": self._seeding,
            "state": state_codec.packed(state, arrays),
        }
        self._write_with(header, arrays, finished)

    def _where(self, state: State) -> str:
        at = f"restart {len(state.complete) + 1}"
        if state.current is None:
            return self._beginning(f"the beginning of {at}")
        return self._beginning(f"iteration {state.current.last.iteration} of {at}")
