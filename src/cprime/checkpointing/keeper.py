"""Which fit is kept in a folder, and may this one go on with it?"""

import copy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from cprime.checking.warn import warn
from cprime.checkpointing.checkpoint import Checkpoint
from cprime.checkpointing.identity import difference, differences, identity, parameters
from cprime.checkpointing.rotation import Rotation
from cprime.checkpointing.termination import stopped_by_sigterm
from cprime.storage import tree
from cprime.storage.locks import FolderInUseError, FolderLock
from cprime.typing import Array
from cprime.version import __version__


class KeptFit:
    """A fit in the folder of a checkpoint: whose it is, and where it began.

    Parameters
    ----------
    checkpoint : Checkpoint
    estimator : estimator
    X : ndarray, CSR matrix or Data
        As it was checked.
    weights : ndarray of shape (N,)
        As they were checked.
    lock : FolderLock
        Of that folder; is taken, unless there is a result that is only read.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        estimator: Any,
        X: Any,
        weights: Array,
        lock: FolderLock,
    ):
        self._checkpoint = checkpoint
        self._folder = str(checkpoint.folder)
        self._rotation = Rotation(checkpoint.folder)
        known = parameters(estimator)
        self._take(lock)
        self._identity = identity(estimator, known, X, weights)
        self._resumes = self._rotation.latest is not None
        self.finished = self._rotation.finished
        self._random_state: np.random.RandomState | None = None
        self._last = time.monotonic()
        if self._resumes:
            self._read_beginning()

    def random_state(self, given: Any) -> np.random.RandomState:
        """Return the random numbers of a fit, from where it began."""
        if self._random_state is None:
            found: np.random.RandomState = check_random_state(given)
            self._random_state = copy.deepcopy(found)
            return found
        if isinstance(given, np.random.RandomState):
            given.set_state(self._random_state.get_state())
            return given
        return copy.deepcopy(self._random_state)

    @property
    def _is_due(self) -> bool:
        return time.monotonic() - self._last >= self._checkpoint.every

    def _write_with(
        self, header: dict[str, Any], arrays: dict[str, Any], finished: bool
    ) -> None:
        """Write what is kept, and which fit it is of."""
        told = {
            "identity": tree.packed(self._identity, "identity", arrays),
            "random_state": tree.packed(self._random_state, "random_state", arrays),
        }
        self._rotation.write({**told, **header}, arrays, finished)
        self._last = time.monotonic()

    def _take(self, lock: FolderLock) -> None:
        """Take the folder. Whoever is refused has touched nothing in it."""
        self._rotation.make_folder()
        resume, refused = self._checkpoint.resume, None
        try:
            if not lock.acquire():
                warn(
                    f"The folder {self._folder!r} cannot be locked, its file system "
                    "has no locks: make sure that no other fit uses it.",
                    RuntimeWarning,
                )
        except (FolderInUseError, OSError) as error:
            if not resume:
                raise
            refused = error
        self._rotation.look()
        if resume and self._rotation.finished:
            # Nothing will be written: any number of fits may read a result.
            lock.release()
            return
        if refused is not None:
            raise refused
        self._refuse_unfinished()
        self._rotation.remove_unfinished()
        if not resume:
            self._rotation.clear()

    def _refuse_unfinished(self) -> None:
        found = self._rotation
        if found.latest is not None and not (found.finished or self._checkpoint.resume):
            raise ValueError(
                f"The folder {self._folder!r} holds an unfinished fit, saved at "
                f"{found.when}: use resume=True to continue it, or delete the folder."
            )

    def _read_beginning(self) -> None:
        """Find out which fit was kept, and refuse to go on with another."""
        with self._rotation.opened() as file:
            arrays = dict(file.arrays)
            before = tree.unpacked(file.header.get("identity"), arrays)
            random_state = tree.unpacked(file.header.get("random_state"), arrays)
            if not isinstance(random_state, np.random.RandomState):
                raise ValueError("it holds no random numbers")
            if not (
                isinstance(before, dict) and before.keys() == self._identity.keys()
            ):
                raise ValueError("it does not say which fit it belongs to")
            different = differences(before, self._identity)
        version = file.header["cprime"]
        self._refuse([difference("cprime", version, __version__), *different])
        self._random_state = random_state

    def _refuse(self, found: list[str]) -> None:
        """Raise if there is a difference between the fit that was kept and this one."""
        told = "; ".join(filter(None, found))
        if told:
            raise ValueError(
                f"The checkpoint in {self._folder!r} belongs to another fit: {told}. "
                "Use the same data and parameters, choose another folder, or delete "
                "this one."
            )

    def _beginning(self, at: str) -> str:
        """Return where the fit begins, in words; `at` is where it had come to."""
        if not self._resumes:
            if self._checkpoint.resume:
                return (
                    f"There is no checkpoint in {self._folder!r} yet: starting from "
                    "the beginning."
                )
            return f"Starting from the beginning, with checkpoints in {self._folder!r}."
        if self.finished:
            return f"The fit in {self._folder!r} had finished: this is its result."
        return (
            f"Resuming from {at}, saved in {self._folder!r} at {self._rotation.when}."
        )


Kept = TypeVar("Kept", bound=KeptFit)


@contextmanager
def keeping(
    kind: Callable[..., Kept],
    checkpoint: Checkpoint,
    estimator: Any,
    X: Any,
    weights: Array,
) -> Iterator[Kept]:
    """Give what keeps a fit of this kind while it runs."""
    if not isinstance(checkpoint, Checkpoint):
        raise TypeError(
            f"checkpoint must be a cprime.Checkpoint, not {checkpoint!r:.60}: give "
            "cprime.Checkpoint(folder)."
        )
    lock = FolderLock(checkpoint.folder)
    with stopped_by_sigterm():
        try:
            yield kind(checkpoint, estimator, X, weights, lock)
        finally:
            # Not left to the collector: a traceback would keep the folder from others.
            lock.release()
