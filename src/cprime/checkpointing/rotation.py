"""Which of two checkpoints is the newest that is whole?"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from cprime.checking.warn import warn
from cprime.storage import atomic, container

# Should the newer be damaged, there is the older.
NAMES = ("checkpoint-1.cprime", "checkpoint-2.cprime")


class Rotation:
    """The two files of a folder, of which the newer is whole, or else the older.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._count = 0
        # The newest that is whole.
        self.latest: Path | None = None
        self.finished = False
        self.when = ""

    def look(self) -> None:
        """Find the newest checkpoint that is whole, or say that all are damaged."""
        damaged = []
        for name in NAMES:
            path = self._folder / name
            try:
                with container.open_file(path) as file:
                    self._consider(path, file.header)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except ValueError as error:
                damaged.append(str(error))
        if damaged and self.latest is None:
            raise ValueError(
                f"{' '.join(damaged)} There is no other checkpoint in "
                f"{str(self._folder)!r}: delete the folder to start from the beginning."
            )
        if damaged:
            warn(
                f"{damaged[0]} Resuming from {self.latest}, saved at {self.when}.",
                RuntimeWarning,
            )

    def _consider(self, path: Path, header: dict[str, Any]) -> None:
        if header.get("holds") != "checkpoint":
            raise ValueError("it holds no checkpoint")
        count, finished, when = (
            header.get(name) for name in ("count", "finished", "when")
        )
        if not (
            type(count) is int
            and 0 < count < 2**62
            and isinstance(finished, bool)
            and isinstance(when, str)
        ):
            raise ValueError("it is not a checkpoint that cprime has written")
        if count > self._count:
            self._count, self.latest = count, path
            self.finished, self.when = finished, when[:40]

    def write(
        self, header: dict[str, Any], arrays: dict[str, Any], finished: bool
    ) -> None:
        """Put a new checkpoint in place of the older."""
        count = self._count + 1
        if self.latest is None:
            path = self._folder / NAMES[0]
        else:
            path = self._folder / NAMES[1 - NAMES.index(self.latest.name)]
        told = {
            "holds": "checkpoint",
            "count": count,
            "finished": finished,
            "when": datetime.now().isoformat(" ", "seconds"),
        }
        container.write(path, "the checkpoint", {**header, **told}, arrays)
        self._count, self.latest, self.finished = count, path, finished

    @contextmanager
    def opened(self) -> Iterator[container.Contents]:
        """Give the newest checkpoint, unless another fit has replaced it meanwhile.

        A fit that had finished is read without a lock, and another may begin there.
        """
        assert self.latest is not None
        try:
            with container.open_file(self.latest) as file:
                found = Rotation(self._folder)
                found._consider(self.latest, file.header)
                if vars(found) != vars(self):
                    raise ValueError("another fit has just replaced it")
                yield file
        except FileNotFoundError as error:
            raise ValueError(
                f"Cannot read {str(self.latest)!r}: another fit has just removed it."
            ) from error

    def make_folder(self) -> None:
        """Make the folder if it is not there."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OSError(
                error.errno,
                f"Could not make the folder for checkpoints {str(self._folder)!r}: "
                f"{error.strerror}. Give another one.",
            ) from error

    def remove_unfinished(self) -> None:
        """Remove what writers killed at work have left."""
        for name in NAMES:
            atomic.remove_unfinished(self._folder, name)

    def clear(self) -> None:
        """Remove all checkpoints, the newest last."""
        paths = [self._folder / name for name in NAMES]
        for path in sorted(paths, key=lambda path: path == self.latest):
            path.unlink(missing_ok=True)
        self._count, self.latest, self.finished = 0, None, False
