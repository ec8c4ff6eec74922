"""What of a fit is kept, when, and may another one go on from it?"""

import copy
import time
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

import cprime
from cprime.estimators import inputs, kept_state
from cprime.estimators.checkpoints import Checkpoint
from cprime.estimators.generations import Generations
from cprime.estimators.restarts import State
from cprime.rows import Rows
from cprime.storage import container, tree
from cprime.storage.fingerprint import fingerprint
from cprime.typing import Array

# Parameters that change nothing about a result.
NO_MATTER = {"verbose", "verbose_interval", "copy_x"}


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


class FolderKeeper(Keeper):
    """Keeps a fit in the folder of a checkpoint.

    Parameters
    ----------
    checkpoint : Checkpoint
    estimator : estimator
    X : ndarray, CSR matrix or Data
        As it was checked.
    weights : ndarray of shape (N,)
        As they were checked.
    """

    keeps = True

    def __init__(self, checkpoint: Checkpoint, estimator: Any, X: Any, weights: Array):
        self._checkpoint = checkpoint
        self._folder = str(checkpoint.folder)
        self._generations = Generations(checkpoint.folder)
        self._generations.look()
        self._refuse_unfinished()
        # Whoever is refused has touched nothing: another fit may be at work here.
        self._generations.begin()
        if not checkpoint.resume:
            self._generations.clear()
        self._identity = {
            "class": type(estimator).__name__,
            "parameters": _parameters(estimator),
            "rows": [int(n) for n in X.shape],
            "values": fingerprint(X),
            # Weights nobody gave are one number, seen as many.
            "sample_weight": fingerprint(weights[:1] if _all_one(weights) else weights),
        }
        self._resumes = self._generations.latest is not None
        self.finished = self._generations.finished
        self._random_state: np.random.RandomState | None = None
        self._rows: Rows
        self._seeding: str
        self._last: float
        if self._resumes:
            self._read_beginning()

    def random_state(self, given: Any) -> np.random.RandomState:
        if self._random_state is None:
            found = super().random_state(given)
            self._random_state = copy.deepcopy(found)
            return found
        if isinstance(given, np.random.RandomState):
            given.set_state(self._random_state.get_state())
            return given
        return copy.deepcopy(self._random_state)

    def restored(self, rows: Rows, C: int, seeding: str) -> State:
        state = State()
        if self._resumes:
            assert self._generations.latest is not None
            with container.opened(self._generations.latest) as file:
                told = file.header.get("state")
                state = kept_state.unpacked(told, dict(file.arrays), rows, C)
                if self.finished and state.best is None:
                    raise ValueError("it holds no fit, and says that it had finished")
            self._refuse([_difference("seeding", file.header.get("seeding"), seeding)])
        self._rows, self._seeding, self._last = rows, seeding, time.monotonic()
        self.message = self._where(state)
        self._checkpoint.say(self.message)
        if not self._resumes:
            # A folder that cannot be written to is better known now than later.
            self._write(state)
        return state

    def keep(self, state: State) -> None:
        if time.monotonic() - self._last >= self._checkpoint.every:
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
            "identity": tree.packed(self._identity, "identity", arrays),
            "random_state": tree.packed(self._random_state, "random_state", arrays),
            "seeding": self._seeding,
            "state": kept_state.packed(state, self._rows, arrays),
        }
        self._generations.write(header, arrays, finished)
        self._last = time.monotonic()

    def _refuse_unfinished(self) -> None:
        found = self._generations
        if found.latest is not None and not (found.finished or self._checkpoint.resume):
            raise ValueError(
                f"There is a fit in {self._folder!r} that has not finished, kept at "
                f"{found.when}: say resume=True to go on with it, or remove it."
            )

    def _read_beginning(self) -> None:
        """Find out which fit was kept, and refuse to go on with another."""
        assert self._generations.latest is not None
        with container.opened(self._generations.latest) as file:
            arrays = dict(file.arrays)
            before = tree.unpacked(file.header.get("identity"), arrays)
            random_state = tree.unpacked(file.header.get("random_state"), arrays)
            if not isinstance(random_state, np.random.RandomState):
                raise ValueError("it holds no random numbers")
            if not (
                isinstance(before, dict) and before.keys() == self._identity.keys()
            ):
                raise ValueError("it does not say which fit it is of")
            differences = _differences(before, self._identity)
        version = file.header["cprime"]
        self._refuse([_difference("cprime", version, cprime.__version__), *differences])
        self._random_state = random_state

    def _refuse(self, differences: list[str]) -> None:
        """Raise if there is a difference between the fit that was kept and this one."""
        told = "; ".join(filter(None, differences))
        if told:
            raise ValueError(
                f"The fit in {self._folder!r} cannot go on, this is another one: "
                f"{told}. Give what it was begun with, or another folder, or remove "
                "this one."
            )

    def _where(self, state: State) -> str:
        if not self._resumes:
            if self._checkpoint.resume:
                return (
                    f"There is no checkpoint in {self._folder!r} yet: starting afresh."
                )
            return f"Starting afresh, with checkpoints in {self._folder!r}."
        if self.finished:
            return f"The fit in {self._folder!r} had finished: there is its result."
        at = f"restart {len(state.complete) + 1}"
        if state.current is None:
            at = f"the beginning of {at}"
        else:
            at = f"iteration {state.current.last.iteration} of {at}"
        return (
            f"Going on from {at}, kept in {self._folder!r} at {self._generations.when}."
        )


def keeper_of(
    checkpoint: Checkpoint | None, estimator: Any, X: Any, weights: Array
) -> Keeper:
    """Return what keeps a fit; None keeps nothing."""
    if checkpoint is None:
        return Keeper()
    if not isinstance(checkpoint, Checkpoint):
        raise TypeError(
            f"checkpoint must be a cprime.Checkpoint, not {checkpoint!r:.60}: give "
            "cprime.Checkpoint(folder)."
        )
    return FolderKeeper(checkpoint, estimator, X, weights)


def _all_one(weights: Array) -> bool:
    return weights.strides == (0,) and bool(weights[0] == 1.0)


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters a result depends on, as something that can be compared."""
    found = {}
    for name, value in estimator.get_params(deep=False).items():
        if name in NO_MATTER:
            continue
        if isinstance(value, np.generic):
            value = value.item()
        elif isinstance(value, np.random.RandomState):
            # Where it stands is kept beside.
            value = "a RandomState"
        elif callable(value):
            value = _name_of(name, value)
        elif not (value is None or isinstance(value, bool | int | float | str)):
            value = np.asarray(inputs.dense(value, name), dtype=np.float64)
        found[name] = value
    return found


def _name_of(parameter: str, function: Any) -> str:
    try:
        return f"{function.__module__}.{function.__qualname__}"
    except AttributeError:
        raise ValueError(
            f"{parameter}={function!r:.60} has no name, so nobody could tell later "
            "whether a fit goes on with the same: give a function that has one."
        ) from None


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return in words what of a fit has changed."""
    if before["class"] != now["class"]:
        return [f"the estimator was a {before['class']!r:.40} and is a {now['class']}"]
    params = before["parameters"]
    if not isinstance(params, dict):
        raise ValueError("it does not say which parameters it is of")
    found = [
        _difference(name, params.get(name), now["parameters"].get(name))
        for name in sorted(params.keys() | now["parameters"].keys())
    ]
    if before["rows"] != now["rows"]:
        found.append(f"X had shape {before['rows']!r:.60} and has now {now['rows']}")
    elif before["values"] != now["values"]:
        found.append("X has other values")
    if before["sample_weight"] != now["sample_weight"]:
        found.append("sample_weight has other values")
    return found


def _difference(name: str, old: Any, new: Any) -> str:
    """Return in words that a value has changed; nothing if it has not."""
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        return "" if np.array_equal(old, new) else f"{name} has other values"
    if type(old) is type(new) and old == new:
        return ""
    return f"{name} was {_told(old)} and is now {_told(new)}"


def _told(value: Any) -> str:
    return "an array" if isinstance(value, np.ndarray) else f"{value!r:.60}"
