"""What does an iteration cost when clusters have covariances of their own?"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import sklearn.mixture

import cprime
from benchmarks import data, tables
from benchmarks.comparison import Row, compare, each_input, row
from benchmarks.data import Input
from benchmarks.harness import Timed, interleave
from benchmarks.settings import Settings

QUESTION = "what does an iteration cost when clusters have covariances of their own?"
# Covariance type, input, and the C' that are compared with all clusters kept.
CASES = (
    ("diag", Input("KDD", 200), (5, None)),
    ("spherical", Input("KDD", 200), (5, None)),
    ("tied", Input("KDD", 200), (5, None)),
    ("full", Input("KDD", 50), (3, None)),
)
QUICK = (
    ("diag", Input("KDD", 20, 2000), (5, None)),
    ("full", Input("KDD", 5, 2000), (3, None)),
)
FIRST, LAST = 1, 4
COLUMNS = (
    tables.CASE,
    tables.CONTESTANT,
    ("seconds per iteration", tables.number("seconds", ".3g")),
    tables.SPREAD,
    tables.SPEED,
    ("free energy per row", tables.number("free_energy", ".4f")),
    ("log-likelihood per row", tables.number("log_likelihood", ".4f")),
)
NOTES = [
    f"Seconds are (a fit of {LAST} iterations less one of {FIRST}) / {LAST - FIRST}, "
    "on float64 rows, from the same means, covariances and proportions: those of the "
    f"rows closest to random rows. F and L are those after {LAST} iterations.",
    "`reg_covar` is 1e-6 everywhere. scikit-learn adds it to variances and cprime "
    "clips them there, so likelihoods differ where clusters are narrow.",
]


def measure(settings: Settings) -> dict[str, Any]:
    """Time fits of several iterations less fits of one."""
    rows: list[Row] = []
    skipped: list[str] = []
    for covariance_type, given, kept in QUICK if settings.quick else CASES:
        compared = partial(_compare, covariance_type, kept)
        more, missing = each_input((given,), compared, settings)
        rows, skipped = rows + more, skipped + missing
    return {"rows": rows, "skipped": skipped, "notes": NOTES}


def _compare(
    covariance_type: str,
    kept: tuple[int | None, ...],
    given: Input,
    X: data.Array,
    settings: Settings,
) -> list[Row]:
    X = X.astype(np.float64)
    start = _start(X, covariance_type, given.C)
    fits: dict[str, Callable[[int], Any]] = {
        f"cprime, C'={given.C if c_prime is None else c_prime}": partial(
            _fit, cprime.GaussianMixture, X, {**start, "c_prime": c_prime}
        )
        for c_prime in kept
    }
    fits["scikit-learn"] = partial(_fit, sklearn.mixture.GaussianMixture, X, start)
    tasks = {
        (name, max_iter): partial(fit, max_iter)
        for name, fit in fits.items()
        for max_iter in (FIRST, LAST)
    }
    timed = interleave(tasks, settings, warm_ups={"": next(iter(tasks.values()))})
    rows = [_row(name, X, timed[name, FIRST], timed[name, LAST]) for name in fits]
    return compare(f"{given.label(X)}, {covariance_type}", rows)


def _start(X: data.Array, covariance_type: str, C: int) -> dict[str, Any]:
    """Return parameters both libraries start from, and other options of the fit."""
    options = {"n_components": C, "covariance_type": covariance_type}
    options |= {"reg_covar": 1e-6, "tol": 0.0}
    means = data.first_centers(X, C)
    hard = cprime.GaussianMixture(**options, means_init=means, max_iter=0).fit(X)
    return {
        **options,
        "means_init": hard.means_,
        "weights_init": hard.weights_,
        "precisions_init": hard.precisions_,
    }


def _fit(cls: Any, X: data.Array, options: dict[str, Any], max_iter: int) -> Any:
    return cls(**options, max_iter=max_iter).fit(X)


def _row(name: str, X: data.Array, first: Timed, last: Timed) -> Row:
    pairs = zip(first.times, last.times)
    per_iteration = Timed([(b - a) / (LAST - FIRST) for a, b in pairs])
    reached = {"log_likelihood": float(last.outcome.score(X))}
    if isinstance(last.outcome, cprime.GaussianMixture):
        reached["free_energy"] = last.outcome.free_energy_
    times = {"times_first": first.times, "times_last": last.times}
    return row(name, per_iteration, **reached, **times)
