"""What do the rows of a fit lose by looking at few clusters?"""

from typing import Any, NamedTuple

import numpy as np

from cprime import bounds
from cprime.fitting.restarts import State
from cprime.fitting.results import Attributes, Results
from cprime.problem import Problem
from cprime.rows import Rows
from cprime.theta import Coefficients
from cprime.typing import Array

# Of many rows so many are looked at: the gap is known to a few thousandths of a nat.
SAMPLED_ROWS = 2**14
# A sample is taken of this many rows or more, if to look at all clusters of all rows
# takes this many distances or more: as long as several iterations with hints.
MANY_ROWS = 2**17
MANY_DISTANCES = 2**24
# Sampled values that are in memory together.
VALUES_AT_ONCE = 2**22


class Gap(NamedTuple):
    """The mean gap of all rows.

    Attributes
    ----------
    mean : float
        In nats per row.
    standard_error : float
        Of the mean, if it is that of a sample; else 0.
    evaluations : int
        Distances that were computed for it.
    """

    mean: float
    standard_error: float
    evaluations: int


def gap_of_best(results: Results, state: State) -> Attributes:
    """Return L and the gap of the best restart, and the work of all with this.

    It looks at all clusters once more. Where no density is fitted there is nothing.
    """
    if not results.has_density:
        return {}
    assert state.best is not None and state.best.fit is not None
    problem, fit = results.problem, state.best.fit
    found = _gap(problem, problem.model.coefficients(fit.theta), fit.K)
    free_energy = results.measured(fit.free_energy)["free_energy"]
    return {
        "log_likelihood_": free_energy + found.mean,
        "gap_": found.mean,
        "gap_standard_error_": found.standard_error,
        "evaluations_": state.evaluations + found.evaluations,
    }


def _gap(problem: Problem, coefficients: Coefficients, kept: Any) -> Gap:
    """Return the gap of rows that keep these clusters.

    The clusters of F, which are known; labels may be state (lazy-k-means).
    """
    rows, C = problem.rows, len(coefficients.means)
    if problem.C_prime == C:
        return Gap(0.0, 0.0, rows.n_rows * C)
    if is_sampled(rows.n_rows, C):
        return _sampled_gap(problem, coefficients, kept)
    mean = bounds.gap(rows, coefficients, K=kept.array(), kernel=problem.kernel)
    return Gap(mean, 0.0, rows.n_rows * C)


def is_sampled(n_rows: int, C: int) -> bool:
    """Return whether the gap of so many rows and clusters is that of a sample."""
    return n_rows >= MANY_ROWS and n_rows * C >= MANY_DISTANCES


def _sampled_gap(problem: Problem, coefficients: Coefficients, kept: Any) -> Gap:
    indices, times = evenly_spread(problem.rows, SAMPLED_ROWS)
    at_once = max(1, VALUES_AT_ONCE // problem.rows.n_features)
    gaps = np.concatenate(
        [
            bounds.gap_per_row(
                problem.rows.subset(some),
                coefficients,
                K=kept.part(some).K,
                kernel=problem.kernel,
            )
            for some in np.split(indices, range(at_once, len(indices), at_once))
        ]
    )
    n_drawn = times.sum()
    mean = float(times @ gaps / n_drawn)
    variance = float(times @ (gaps - mean) ** 2 / (n_drawn - 1))
    error = float(np.sqrt(variance / n_drawn))
    return Gap(mean, error, len(indices) * len(coefficients.means))


def evenly_spread(rows: Rows, count: int) -> tuple[Array, Array]:
    """Return the places of about `count` rows, and how many times each was drawn.

    The weight of consecutive rows is divided evenly, and a point drawn in every part:
    a row is drawn as often as it weighs, and no order of the rows misleads. Draws
    depend on the weights alone, so fits of the same rows can be compared.

    Parameters
    ----------
    rows : Rows
    count : int
    """
    step = rows.weight / count

    def drawn(weights: Array) -> tuple[Array]:
        weight = np.cumsum(weights)
        parts = np.arange(np.ceil(weight[-1] / step))
        points = (parts + np.random.default_rng(0).random(len(parts))) * step
        return (np.searchsorted(weight, points[points < weight[-1]], side="right"),)

    (places,) = rows.pick(drawn)
    return np.unique(places, return_counts=True)
