"""The runs that figures follow iteration by iteration, on the set that is shown."""

from typing import Any, NamedTuple

import numpy as np

from cprime.datasets import Sample
from cprime.experiments import birch
from cprime.experiments.ensemble import best_run, ensemble
from cprime.experiments.published import KINDS, LAST_ITERATION
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting
from cprime.typing import Array

C_PRIMES = (1, 2, 5, birch.C)


def setting(kind: str, C_prime: int, quick: bool, seeding: str = "greedy") -> Setting:
    """Return runs that are followed for as long as the paper's axes are."""
    sets = ensemble(quick)
    return birch.setting(
        kind,
        sets.shown(kind),
        C_prime,
        seeding=seeding,
        n_runs=sets.n_runs,
        n_steps=LAST_ITERATION,
    )


def settings(quick: bool) -> list[Setting]:
    """Return all runs that are followed."""
    greedy = [setting(kind, c, quick) for kind in KINDS for c in C_PRIMES]
    return greedy + [setting(kind, 1, quick, "plain") for kind in KINDS]


def sample(kind: str, quick: bool) -> Sample:
    """Return the set that is shown."""
    return birch.draw(kind, ensemble(quick).shown(kind))


class Runs:
    """Runs of k-means-C' on the set that is shown."""

    def __init__(
        self,
        records: Records,
        kind: str,
        C_prime: int,
        quick: bool,
        seeding: str = "greedy",
    ):
        of_runs = setting(kind, C_prime, quick, seeding)
        self.result: dict[str, Any] = records[of_runs]

    def traces(self, measure: str) -> Array:
        """Return a measure of all runs, shape (runs, iterations + 1)."""
        return np.array(self.result["traces"][measure])

    def last(self, measure: str) -> Array:
        """Return a measure of all runs where they converged."""
        return np.array(self.result[measure])

    def course(self) -> tuple[Array, ...]:
        """Return L and F of all runs, iteration by iteration and at the end."""
        return self.traces("L"), self.traces("F"), self.last("L"), self.last("F")

    @property
    def centers(self) -> Array:
        """The means of the run with the highest L."""
        return np.array(self.result["centers"])

    def best(self, measure: str) -> int:
        """Return the run that is best, as the paper's figures choose it."""
        return best_run(self.result, measure)

    def with_missed(self, missed: int) -> int | None:
        """Return the first run that has missed so many clusters, if there is one."""
        hits = np.flatnonzero(self.last("missed") == missed)
        return int(hits[0]) if len(hits) > 0 else None


class Example(NamedTuple):
    """L and F of k-means, iteration by iteration and at the end."""

    L: Array
    F: Array
    likelihood_at_end: float
    free_energy_at_end: float


def examples(records: Records, kind: str, quick: bool) -> dict[int | None, Example]:
    """Return runs of k-means that missed no, one and two clusters; None: the mean.

    From greedy seeds, or from plain ones if no greedy run missed so many.
    """
    found: dict[int | None, Example] = {}
    greedy, plain = (Runs(records, kind, 1, quick, s) for s in ("greedy", "plain"))
    for missed in range(3):
        for runs in (greedy, plain):
            run = runs.with_missed(missed)
            if run is not None:
                found[missed] = Example(*(of[run] for of in runs.course()))
                break
    found[None] = Example(*(of.mean(axis=0) for of in greedy.course()))
    return found
