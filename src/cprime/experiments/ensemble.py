"""The BIRCH sets everything is run on, and how typical a published number is."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student_t

from cprime.experiments import birch
from cprime.experiments.birch import ALGORITHMS
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting

# Of values from one more set, this share is expected to count as typical.
TYPICAL = 0.99
RULE = (
    "A number holds if one more set drawn here would give one as far from the mean "
    f"with a probability of at least {1.0 - TYPICAL:.0%} (a prediction interval of "
    "Student's t). z is its distance from the mean over sets in standard deviations, "
    "and it is above the share of sets that is given."
)


@dataclass(frozen=True)
class Ensemble:
    """Sets of both kinds, drawn with seeds 0, 1, ..., and how often each is run.

    Attributes
    ----------
    n_sets, n_runs : int
    n_candidates : int
        Sets among which the one most like the published one is looked for.
    """

    n_sets: int
    n_runs: int
    n_candidates: int

    def shown(self, kind: str) -> int:
        """Return the seed of the set that figures show."""
        return birch.most_like_published(kind, self.n_candidates)

    def setting(self, kind: str, seed: int, name: str, seeding: str) -> Setting:
        """Return the runs of an algorithm of Table S1 on one set."""
        C_prime, eps = ALGORITHMS[name]
        return birch.setting(
            kind, seed, C_prime, eps=eps, seeding=seeding, n_runs=self.n_runs
        )

    def settings(self, kind: str, name: str, seeding: str) -> list[Setting]:
        """Return the runs of an algorithm on all sets."""
        seeds = range(self.n_sets)
        return [self.setting(kind, seed, name, seeding) for seed in seeds]

    def results(
        self, records: Records, kind: str, name: str, seeding: str
    ) -> list[dict[str, Any]]:
        """Return what those runs found, set by set."""
        return [records[s] for s in self.settings(kind, name, seeding)]


FULL = Ensemble(n_sets=20, n_runs=birch.N_RUNS, n_candidates=birch.N_CANDIDATES)
QUICK = Ensemble(n_sets=6, n_runs=10, n_candidates=40)


def ensemble(quick: bool) -> Ensemble:
    """Return the sets of a quick or a full reproduction."""
    return QUICK if quick else FULL


def best_run(of_runs: Mapping[str, Any], measure: str) -> int:
    """Return which run is best, as the paper chooses it.

    The one with the highest L or the lowest phi; for purity and NMI, that with the
    highest sum of both.
    """
    if measure == "L":
        return int(np.argmax(of_runs["L"]))
    if measure == "phi":
        return int(np.argmin(of_runs["phi"]))
    return int(np.argmax(np.add(of_runs["purity"], of_runs["nmi"])))


@dataclass(frozen=True)
class Place:
    """Where a value stands among others.

    Attributes
    ----------
    center, spread : float
        Mean of the others, and the standard deviation of one more.
    n : int
        How many others there are.
    deviations : float
        How many of those the value is above the mean.
    share_below : float
        The share of the others that are lower.
    """

    center: float
    spread: float
    n: int
    deviations: float
    share_below: float

    @classmethod
    def of(cls, value: float, others: list[float], noise: float = 0.0) -> "Place":
        """Return the place of a value.

        `noise` is the standard deviation with which the value itself, were it drawn
        again from the same set, would vary beyond what the others show.
        """
        center = float(np.mean(others))
        spread = math.hypot(float(np.std(others, ddof=1)), noise)
        difference = value - center
        return cls(
            center,
            spread,
            len(others),
            difference / spread if spread > 0.0 else float(np.sign(difference)) * 1e9,
            float(np.mean(np.less(others, value))),
        )

    @property
    def is_typical(self) -> bool:
        """Whether the value might be one of the others: a prediction interval."""
        most = float(student_t.ppf(0.5 + 0.5 * TYPICAL, self.n - 1))
        return abs(self.deviations) <= most * math.sqrt(1.0 + 1.0 / self.n)

    def mean_text(self, digits: int) -> str:
        """Return mean and spread of the others."""
        return f"{self.center:.{digits}f} ± {self.spread:.{digits}f}"

    def spread_text(self, digits: int) -> str:
        """Return the spread of the others, and the place of the value."""
        return (
            f"± {self.spread:.{digits}f} (z {self.deviations:+.1f}, "
            f"above {self.share_below:.0%})"
        )
