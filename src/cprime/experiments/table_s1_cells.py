"""The cells of Table S1: what is printed in each, and what a set gives for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.experiments import dbscan, published
from cprime.experiments.ensemble import Ensemble, Place, best_run
from cprime.experiments.published import DBSCAN
from cprime.experiments.records import Records

DIGITS = {"L": 3, "phi": 0, "purity": 3, "nmi": 3}
NAMES = {"L": "L", "phi": "phi", "purity": "purity", "nmi": "NMI"}


def _mean(of_runs: dict[str, Any], measure: str) -> float:
    return float(np.mean(of_runs[measure]))


def _best(of_runs: dict[str, Any], measure: str) -> float:
    """Return a measure as the table's column "best" has it."""
    return float(of_runs[measure][best_run(of_runs, measure)])


SUMMARIES: dict[str, Callable[[dict[str, Any], str], float]] = {
    "mean": _mean,
    "best": _best,
}


@dataclass(frozen=True)
class Cell:
    """One published number, and what the sets give for it."""

    kind: str
    name: str
    measure: str
    summary: str

    @property
    def value(self) -> float:
        """The published number."""
        means_and_bests = published.TABLE_S1[self.kind][self.name][self.measure]
        return means_and_bests[list(SUMMARIES).index(self.summary)]

    @property
    def claim(self) -> str:
        """What is published."""
        summary = "" if self.name == DBSCAN else f"{self.summary} "
        return f"Tab. S1, {self.kind}, {self.name}: {summary}{NAMES[self.measure]}"

    def of_runs(self, runs: dict[str, Any]) -> float:
        """Return the number that runs on one set give."""
        return SUMMARIES[self.summary](runs, self.measure)

    def on_set(
        self, records: Records, sets: Ensemble, seed: int, seeding: str
    ) -> float:
        """Return the number that one set gives."""
        if self.name == DBSCAN:
            return self.of_runs(records[dbscan.setting(self.kind, seed)])
        return self.of_runs(records[sets.setting(self.kind, seed, self.name, seeding)])

    def place(self, records: Records, sets: Ensemble, seeding: str) -> Place:
        """Return where the published number stands among all sets."""
        seeds = range(sets.n_sets)
        found = [self.on_set(records, sets, seed, seeding) for seed in seeds]
        return Place.of(self.value, found)

    def text(self, value: float) -> str:
        """Return a value with as many digits as the paper prints."""
        return f"{value:.{DIGITS[self.measure]}f}"


def cells(kind: str, name: str) -> list[Cell]:
    """Return the numbers in one line of the table."""
    return [
        Cell(kind, name, measure, summary)
        for measure in published.TABLE_S1[kind][name]
        for summary in (SUMMARIES if name != DBSCAN else ["mean"])
    ]
