"""How a run of the suite was asked for. Imports nothing that starts threads."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What holds for every experiment of a run.

    Attributes
    ----------
    quick : bool
        Tiny inputs, to check the suite and not to learn anything.
    threads : int
        Threads every contestant may use.
    only : tuple of str
        Jobs of "default" to run, by name; by default all but those that take long.
    gigabytes : float
        Size of the file of the job "file".
    """

    quick: bool
    threads: int
    only: tuple[str, ...] = ()
    gigabytes: float = 3.0

    @property
    def rounds(self) -> int:
        """Times every contestant is run at least."""
        return 2 if self.quick else 5

    @property
    def seconds(self) -> float:
        """Seconds of timed work per comparison at least, so short runs get more."""
        return 0.0 if self.quick else 5.0


def environment(threads: int) -> dict[str, str]:
    """Return the variables that OpenMP and BLAS libraries read when they are loaded."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


def threads_from_environment() -> int:
    """Return the thread count that `environment` has set for this process."""
    return int(os.environ["OMP_NUM_THREADS"])
