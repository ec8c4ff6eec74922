"""Weights of the rows of a Dask collection, which stay where the rows are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cprime.sources.cluster import Task, task
from cprime.sources.homes import Home, brought
from cprime.sources.leaf_hashes import fingerprint_of, leaf_hashes


@dataclass(frozen=True)
class DaskWeights:
    """A weight for every row of Dask data, in the same blocks; all 1 without tasks.

    Attributes
    ----------
    tasks : tuple of Task, optional
        Weights of every block, as a user gave them.
    largest : float
    positive : bool
        Whether no row weighs nothing.
    factor : float
        By which they are multiplied.
    """

    tasks: tuple[Task, ...] | None = None
    largest: float = 1.0
    positive: bool = True
    factor: float = 1.0

    def of(self, block: int) -> Task | None:
        """Return the weights of a block; None if they are all 1."""
        if self.tasks is None and self.factor == 1.0:
            return None
        assert self.tasks is not None
        return self.tasks[block]

    def at(self, homes: Sequence[Home]) -> "DaskWeights":
        """Return the same where the blocks are."""
        if self.tasks is None:
            return self
        return replace(self, tasks=tuple(brought(self.tasks, homes)))

    def max(self) -> float:
        return self.largest * self.factor

    def all(self) -> bool:
        return self.positive

    def __mul__(self, factor: float) -> "DaskWeights":
        return DaskWeights(
            self.tasks, self.largest, self.positive, self.factor * factor
        )

    def fingerprint(self) -> str:
        """Return a hash of all weights, however they are divided."""
        if self.tasks is None:
            return "all 1"
        hashes = [task(leaf_hashes, part) for part in self.tasks]
        return fingerprint_of(hashes, self.factor)
