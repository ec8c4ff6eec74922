"""What becomes of a choice: an estimator, a table, and sentences."""

from typing import Any

import numpy as np

from cprime.advice import of_choice
from cprime.checking.units import Units
from cprime.estimators.kmeans import KMeans
from cprime.estimators.mixture import GaussianMixture
from cprime.selection.candidates import Candidate
from cprime.selection.choice import Choice
from cprime.selection.criteria import CRITERIA
from cprime.selection.shapes import SHAPES
from cprime.typing import Array

# The last fit goes on until this is all it gains, in nats per row.
TOLERANCE = 1e-5
MOST_ITERATIONS = 300


def estimator_of(
    best: Candidate, units: Units, as_found: bool = False, **settings: Any
) -> Any:
    """Return the estimator of a fit, about to start from what was found.

    Parameters
    ----------
    best : Candidate
    units : Units
        That its numbers are in.
    as_found : bool, default=False
        Whether it is to stay where it is, as far as possible.
    **settings
        Parameters that `KMeans` and `GaussianMixture` share.
    """
    shape, theta = SHAPES[best.shape], best.theta
    means = units.means_out(theta.means)
    settings["max_iter"] = MOST_ITERATIONS
    if as_found:
        # k-means takes one iteration at least.
        settings["max_iter"] = int(shape.equal)
    if shape.equal:
        return KMeans(  # type: ignore[no-untyped-call]
            best.C, init=means, n_init=1, **settings
        )
    covariance = units.covariance_out(theta.covariance, np.dtype(np.float64))
    if shape.covariance_type == "tied":
        covariance = covariance[0]
    return GaussianMixture(  # type: ignore[no-untyped-call]
        best.C,
        covariance_type=shape.covariance_type,
        means_init=means,
        weights_init=theta.proportions,
        precisions_init=_inverse(covariance, shape.covariance_type),
        tol=TOLERANCE,
        **settings,
    )


def verdict(
    choice: Choice, max_clusters: int | None, n_rows: int, interrupted: bool
) -> str:
    """Return what was found, and how sure that is, in sentences."""
    shape = SHAPES[choice.best.shape].covariance_type
    scores = choice.best.scores
    findings = [
        of_choice.interrupted() if interrupted else None,
        of_choice.how_many(
            choice.best.C, shape, choice.plausible, max(choice.agreement.values())
        ),
        of_choice.agreement(choice.agreement),
        of_choice.few_rows(choice.best.C, scores.weight, scores.n_parameters),
        of_choice.sampled(choice.n_searched, n_rows, not interrupted)
        if choice.is_sample
        else None,
    ]
    if choice.at_limit and max_clusters is not None:
        findings.append(of_choice.at_the_limit(max_clusters))
    return " ".join(f"{f.headline} {f.text}" for f in findings if f is not None)


def results_table(choice: Choice, n_features: int, units: Units) -> dict[str, Array]:
    """Return a line for every fit, as columns."""
    lift = n_features * np.log(units.scale)
    lines = []
    for found in choice.candidates:
        scores = found.scores
        lines.append(
            {
                "n_clusters": found.C,
                "shape": SHAPES[found.shape].covariance_type,
                "equal_weights": SHAPES[found.shape].equal,
                "free_energy": scores.free_energy + lift,
                "log_likelihood": scores.log_likelihood + lift,
                "gap": scores.log_likelihood - scores.free_energy,
                "entropy": scores.entropy,
                "n_parameters": scores.n_parameters,
                "price": scores.price,
                **{name: of(scores) for name, of in CRITERIA.items()},
                "weight": scores.weight,
                "seconds": found.seconds,
                "chosen": found is choice.best,
            }
        )
    return {name: np.array([line[name] for line in lines]) for name in lines[0]}


def _inverse(covariance: Array, covariance_type: str) -> Any:
    if covariance_type in ("full", "tied"):
        return np.linalg.inv(covariance)
    return 1.0 / covariance
