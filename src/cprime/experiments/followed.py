"""The runs that figures follow iteration by iteration, on the set that is shown."""

from typing import Any

import numpy as np

from cprime.datasets import Sample
from cprime.experiments import birch
from cprime.experiments.ensemble import ensemble
from cprime.experiments.published import LAST_ITERATION
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting
from cprime.typing import Array

C_PRIMES = (1, 2, 5, birch.C)


def setting(kind: str, C_prime: int, quick: bool) -> Setting:
    """Return runs that are followed for as long as the paper's axes are."""
    sets = ensemble(quick)
    return birch.setting(
        kind, sets.shown(kind), C_prime, n_runs=sets.n_runs, n_steps=LAST_ITERATION
    )


def sample(kind: str, quick: bool) -> Sample:
    """Return the set that is shown."""
    return birch.draw(kind, ensemble(quick).shown(kind))


class Runs:
    """Runs of k-means-C' on the set that is shown."""

    def __init__(self, records: Records, kind: str, C_prime: int, quick: bool):
        self.result: dict[str, Any] = records[setting(kind, C_prime, quick)]

    def traces(self, measure: str) -> Array:
        """Return a measure of all runs, shape (runs, iterations + 1)."""
        return np.array(self.result["traces"][measure])

    def last(self, measure: str) -> Array:
        """Return a measure of all runs where they converged."""
        return np.array(self.result[measure])

    @property
    def centers(self) -> Array:
        """The means of the run with the highest L."""
        return np.array(self.result["centers"])

    def best(self, measure: str) -> int:
        """Return the run that is best, as the paper's figures choose it."""
        if measure == "L":
            return int(self.last("L").argmax())
        if measure == "phi":
            return int(self.last("phi").argmin())
        return int((self.last("purity") + self.last("nmi")).argmax())

    def with_missed(self, missed: int) -> int | None:
        """Return the first run that has missed so many clusters, if there is one."""
        hits = np.flatnonzero(self.last("missed") == missed)
        return int(hits[0]) if len(hits) > 0 else None
