"""The BIRCH sets everything is run on, and how typical a published number is."""

import math
from collections.abc import Mapping, Sequence
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
# Why quick runs do not judge some numbers.
TOO_FEW_RUNS = "The best of a few runs is not the best of a hundred: take a full run."
TOO_FEW_SETS = "It takes more sets than a quick run has: take a full run."


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

    @property
    def has_all_runs(self) -> bool:
        """Whether the best of them can be compared with the best of the paper's."""
        return self.n_runs == birch.N_RUNS

    @property
    def runs_dbscan(self) -> bool:
        """Whether DBSCAN is tried on all sets."""
        return self.has_all_runs

    @property
    def can_judge_lines(self) -> bool:
        """Whether there are sets enough to judge the cells of a line together."""
        return self.has_all_runs

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
QUICK = Ensemble(n_sets=12, n_runs=8, n_candidates=40)


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
    error : float
        The standard error of that mean.
    freedom : int
        Degrees of freedom of that spread.
    deviations : float
        How many of those the value is above the mean.
    share_below : float
        The share of the others that are lower.
    """

    center: float
    spread: float
    error: float
    freedom: int
    deviations: float
    share_below: float

    @classmethod
    def of(
        cls,
        value: float,
        others: Sequence[float],
        own: float = 0.0,
        given: float = 0.0,
        *,
        slopes: int = 0,
        reach: float = 0.0,
    ) -> "Place":
        """Return the place of a value.

        `own` is the variance with which each of the others would vary if its runs were
        made again, `given` the same of the value: it counts in place of `own`, once.
        `slopes` have been fitted to the others, which adds `reach` of their variance to
        that of their mean.
        """
        n = len(others)
        center, variance = (
            float(np.mean(others)),
            float(np.var(others, ddof=1 + slopes)),
        )
        spread = math.sqrt(max(variance - own, 0.0) + given)
        difference = value - center
        return cls(
            center,
            spread,
            math.sqrt(variance * (1.0 / n + reach)),
            n - 1 - slopes,
            difference / spread if spread > 0.0 else float(np.sign(difference)) * 1e9,
            float(np.mean(np.less(others, value))),
        )

    @property
    def is_typical(self) -> bool:
        """Whether the value might be one of the others: a prediction interval."""
        most = float(student_t.ppf(0.5 + 0.5 * TYPICAL, self.freedom))
        return abs(self.deviations) * self.spread <= most * math.hypot(
            self.spread, self.error
        )

    def mean_text(self, digits: int, sign: str = "") -> str:
        """Return mean and spread of the others."""
        return f"{self.center:{sign}.{digits}f} ± {self.spread:.{digits}f}"

    def spread_text(self, digits: int) -> str:
        """Return the spread of the others, and the place of the value."""
        return (
            f"± {self.spread:.{digits}f} (z {self.deviations:+.1f}, "
            f"above {self.share_below:.0%})"
        )
