"""What does an iteration of EM cost, beside a Gaussian mixture's?"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture

from benchmarks import contestants, data, tables
from benchmarks.comparison import Row, compare, each_input, row
from benchmarks.data import Input
from benchmarks.harness import Timed, interleave
from benchmarks.settings import Settings
from cprime import bounds
from cprime.em import Step
from cprime.kernels import get_kernel
from cprime.models import Isotropic
from cprime.theta import Theta

QUESTION = "what does one iteration of EM cost, all clusters kept or ten?"
INPUTS = (Input("KDD", 200),)
QUICK = (Input("KDD", 20, 2000),)
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
    "from the same means, variance and proportions, and of cprime without the gap at "
    f"the end of a fit; F and L are those after {LAST} iterations.",
    'The peer is scikit-learn\'s `GaussianMixture(covariance_type="spherical")`. It '
    "fits a variance and a proportion for every cluster where cprime has one variance "
    "and equal proportions, so its likelihood is another model's.",
]


def measure(settings: Settings) -> dict[str, Any]:
    """Time fits of four iterations less fits of one."""
    rows, skipped = each_input(QUICK if settings.quick else INPUTS, _compare, settings)
    return {"rows": rows, "skipped": skipped, "notes": NOTES}


def _compare(given: Input, X: data.Array, settings: Settings) -> list[Row]:
    theta = contestants.cprime_mixture(X, data.first_centers(X, given.C))
    fits: dict[str, Callable[[int], Any]] = {
        f"cprime, C'={given.C} (EM)": partial(_iterate_cprime, X, theta, given.C),
        "cprime, C'=10": partial(_iterate_cprime, X, theta, 10),
        "GaussianMixture, richer": partial(_fit_sklearn, X, theta),
    }
    tasks = {
        (name, max_iter): partial(fit, max_iter)
        for name, fit in fits.items()
        for max_iter in (FIRST, LAST)
    }
    timed = interleave(tasks, settings)
    rows = [_row(name, X, timed[name, FIRST], timed[name, LAST]) for name in fits]
    return compare(given.label(X), rows)


def _row(name: str, X: data.Array, first: Timed, last: Timed) -> Row:
    pairs = zip(first.times, last.times)
    per_iteration = Timed([(b - a) / (LAST - FIRST) for a, b in pairs])
    reached = {"log_likelihood": _log_likelihood(last.outcome, X)}
    if not isinstance(last.outcome, GaussianMixture):
        reached["free_energy"] = last.outcome.free_energy
    times = {"times_first": first.times, "times_last": last.times}
    return row(name, per_iteration, **reached, **times)


def _log_likelihood(outcome: Any, X: data.Array) -> float:
    if isinstance(outcome, GaussianMixture):
        return float(outcome.score(X))
    coefficients = Isotropic().coefficients(outcome.theta)
    return bounds.log_likelihood(X, coefficients, kernel=get_kernel("auto"))


def _iterate_cprime(X: data.Array, theta: Theta, C_prime: int, max_iter: int) -> Step:
    return contestants.cprime_iterations(X, theta, C_prime, max_iter)[-1]


def _fit_sklearn(X: data.Array, theta: Theta, max_iter: int) -> Any:
    C = len(theta.means)
    return GaussianMixture(
        C,
        covariance_type="spherical",
        means_init=theta.means,
        weights_init=np.full(C, 1.0 / C),
        precisions_init=np.full(C, 1.0 / theta.covariance),
        max_iter=max_iter,
        tol=0,
    ).fit(X)
