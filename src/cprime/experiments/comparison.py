"""A printed number beside what each way of running gives: which does it fit?"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cprime.experiments.birch import N_RUNS, C
from cprime.experiments.ensemble import Place
from cprime.experiments.exhibits import Verdict
from cprime.typing import Array

D = 2
N_ROWS = 100 * C


@dataclass(frozen=True)
class Found:
    """What one way of running gives for a number, set by set.

    Attributes
    ----------
    values : list of float
    own : float
        The variance of each over its runs.
    given : float
        The variance of the printed number over the paper's runs.
    slopes : int
        How many slopes have been fitted to the values, 0 or 1.
    reach : float
        What that adds to the variance of their mean, as a share of their own.
    """

    values: list[float]
    own: float = 0.0
    given: float = 0.0
    slopes: int = 0
    reach: float = 0.0

    @classmethod
    def of_means(cls, runs: Sequence[Array], less: Sequence[float] = ()) -> "Found":
        """Return the means over runs, less something that belongs to each set."""
        variance = float(np.mean([np.var(of, ddof=1) for of in runs]))
        means = np.array([np.mean(of) for of in runs])
        shift = np.array(less) if len(less) > 0 else 0.0
        n_runs = len(runs[0])
        return cls((means - shift).tolist(), variance / n_runs, variance / N_RUNS)

    @classmethod
    def of_gains(cls, one: Sequence[Array], other: Sequence[Array]) -> "Found":
        """Return the gains of one way over another, from the same starts.

        What sets and starts have in common cancels here. The paper does not say that
        its algorithms had the same starts: its gain varies as two means do.
        """
        pairs = list(zip(one, other))
        gains = [np.subtract(a, b) for a, b in pairs]
        own = float(np.mean([np.var(of, ddof=1) for of in gains])) / len(gains[0])
        given = [np.var(a, ddof=1) + np.var(b, ddof=1) for a, b in pairs]
        return cls(
            [float(of.mean()) for of in gains], own, float(np.mean(given)) / N_RUNS
        )

    def adjusted(self, known: Sequence[float], printed: float) -> "Found":
        """Return what a set like the paper's would give, by something known of it.

        `known` is the same thing of each set here. What it explains, by a straight
        line, is not spread any more.
        """
        x = np.array(known) - np.mean(known)
        squares = float(x @ x)
        slope = float(x @ np.array(self.values)) / squares
        distance = printed - float(np.mean(known))
        return replace(
            self,
            values=(np.array(self.values) + slope * (distance - x)).tolist(),
            slopes=1,
            reach=distance**2 / squares,
        )

    def place(self, value: float, rounding: float = 0.0) -> Place:
        """Return where a number stands among them, printed to some digit."""
        given = self.given + rounding**2 / 12.0
        return Place.of(
            value, self.values, self.own, given, slopes=self.slopes, reach=self.reach
        )


def compare(
    claim: str,
    value: float,
    found: Mapping[str, Found],
    digits: int,
    *,
    rounding: float | None = None,
    signed: bool = False,
    note: str = "",
    why: Callable[[Place], str] | str = "Not typical of the sets drawn here.",
    explain: str = "",
) -> Verdict:
    """Return the verdict on a number.

    Parameters
    ----------
    claim : str
    value : float
    found : dict of Found
        By the way of running; the first is right.
    digits : int
        That are shown.
    rounding : float, optional
        The last digit that the paper prints, by default that of `digits`.
    signed : bool
        Whether the number is a difference.
    note : str
        Is appended to the spread.
    why : str, or callable that returns it for a place
        What to say if it does not hold.
    explain : str
        What to say if it does.
    """
    if rounding is None:
        rounding = 10.0**-digits
    places = {way: of.place(value, rounding) for way, of in found.items()}
    right, *wrong = places
    place, sign = places[right], "+" if signed else ""
    if not place.is_typical:
        reason = why if isinstance(why, str) else why(place)
    else:
        reason = explain
    return Verdict(
        claim,
        f"{value:{sign}.{digits}f}",
        f"{place.center:{sign}.{digits}f}",
        place.spread_text(digits) + (f", {note}" if note else ""),
        place.is_typical,
        reason,
        {way: places[way].is_typical for way in wrong},
    )


def runs_of(results: Sequence[Mapping[str, Any]], measure: str) -> list[Array]:
    """Return a measure of all runs, set by set."""
    return [np.array(of[measure]) for of in results]


def free_energy_of_phi(phi: float) -> float:
    """Return F of k-means as its quantization error gives it (Cor. 2)."""
    return -math.log(C) - 0.5 * D * math.log(
        2.0 * math.pi * math.e * phi / (D * N_ROWS)
    )


def excess_of_likelihood(results: Sequence[Mapping[str, Any]]) -> Found:
    """Return mean L less the free energy of mean phi, set by set.

    What makes one set easier than another moves both alike: they are compared with
    each other more sharply than either alone.
    """
    runs = [
        np.add(of["L"], 0.5 * D * np.divide(of["phi"], np.mean(of["phi"])))
        for of in results
    ]
    values = [
        float(np.mean(of["L"])) - free_energy_of_phi(float(np.mean(of["phi"])))
        for of in results
    ]
    means = Found.of_means(runs)
    return Found(values, means.own, means.given)


def excess_of_truth(truth: Mapping[str, float]) -> float:
    """Return L of the true parameters less F at unit variance that phi stands for.

    F = -log C - D/2 log(2 pi) - phi / 2N (Eq. 7 with C' = 1), and never above L.
    """
    F = -math.log(C) - 0.5 * D * math.log(2.0 * math.pi)
    return truth["L"] - (F - 0.5 * truth["phi"] / N_ROWS)
