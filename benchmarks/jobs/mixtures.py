"""Whole fits of `GaussianMixture`: its k-means, then EM, beside scikit-learn's."""

import statistics
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import sklearn.mixture
from sklearn.exceptions import ConvergenceWarning

import cprime
from benchmarks import data
from benchmarks.comparison import Row, compare, row
from benchmarks.data import Input
from benchmarks.harness import Timed
from benchmarks.jobs.fits import SHORT_ROUNDS, Job, on
from benchmarks.jobs.repeated import by_turns
from benchmarks.settings import Settings


def mixtures(
    given: Input,
    X: data.Array,
    settings: Settings,
    *,
    kept: tuple[int | None, ...],
    rounds: int,
    covariance_type: str = "full",
) -> list[Row]:
    """Compare fits by default parameters; every round has another `random_state`."""
    X = X.astype(np.float64)
    options = {"n_components": given.C, "covariance_type": covariance_type}
    fits: dict[str, Callable[..., Any]] = {
        f"cprime, C'={c_prime or given.C}": partial(
            cprime.GaussianMixture, c_prime=c_prime, **options
        )
        for c_prime in kept
    }
    fits["scikit-learn"] = partial(sklearn.mixture.GaussianMixture, **options)
    tasks = {name: partial(_fit, create, X) for name, create in fits.items()}
    few = X[: 20 * given.C]
    # Few rows may well be too few: this is to load and start what a fit uses.
    warm_ups = {
        n: partial(_fit, partial(f, max_iter=1), few, 0) for n, f in fits.items()
    }
    rounds = min(rounds, settings.rounds) if settings.quick else rounds
    timed = by_turns(tasks, settings, rounds, warm_ups)
    rows = [_row(name, X, timed[name]) for name in fits]
    return compare(f"{given.label(X)}, {covariance_type}", rows)


def _fit(create: Callable[..., Any], X: data.Array, seed: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return create(random_state=seed).fit(X)


def _row(name: str, X: data.Array, timed: Timed) -> Row:
    models = timed.outcome
    reached = [float(model.score(X)) for model in models]
    return row(
        name,
        timed,
        iterations=statistics.mean(model.n_iter_ for model in models),
        log_likelihood=statistics.mean(reached),
        log_likelihoods=reached,
    )


JOBS: dict[str, Job] = {
    "mixture-diag-50": on(
        Input("KDD", 50), mixtures, covariance_type="diag", kept=(None, 5), rounds=3
    ),
    "mixture-full-15": on(Input("KDD", 15), mixtures, kept=(3,), rounds=1),
    "mixture-iris": on(Input("iris", 3), mixtures, kept=(None,), rounds=SHORT_ROUNDS),
}
