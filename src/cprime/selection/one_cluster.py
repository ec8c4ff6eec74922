"""Do clusters describe their rows better than one cluster would?"""

import math
from typing import Any, NamedTuple

import numpy as np

from cprime.models import Model
from cprime.selection.criteria import Scores, bic
from cprime.theta import Theta
from cprime.typing import Array


class AgainstOne(NamedTuple):
    """BIC of a mixture, and of one cluster of the same shape; lower is better."""

    of_clusters: float
    of_one: float


def against_one(
    model: Model, theta: Theta, shares: Array, log_likelihood: float, n_rows: float
) -> AgainstOne | None:
    """Compare a fitted mixture with one cluster, without a look at the rows.

    The covariance of all rows is that within clusters plus that of their means. None if
    there is one cluster only, or no finite number.

    Parameters
    ----------
    model : Model
    theta : Theta
    shares : ndarray of shape (C,)
        Of the rows of every cluster.
    log_likelihood : float
        L of the mixture, in nats per row.
    n_rows : float
    """
    C, D = theta.means.shape
    if C == 1:
        return None
    steps = theta.means - shares @ theta.means
    volume = _log_volume(theta.covariance, steps, shares)
    of_one = -0.5 * (D * (1.0 + math.log(2.0 * math.pi)) + volume)
    found = AgainstOne(
        *(
            bic(Scores(L, L, 0.0, model.n_parameters(number, D), float(n_rows)))
            for L, number in ((float(log_likelihood), C), (of_one, 1))
        )
    )
    return found if all(math.isfinite(value) for value in found) else None


def _log_volume(covariance: Any, steps: Array, shares: Array) -> float:
    """Return log |Sigma| of all rows as one cluster of the same shape."""
    within, D = np.asarray(covariance, dtype=np.float64), steps.shape[1]
    weights = shares if within.ndim and len(within) > 1 else None
    between = shares @ (steps * steps)
    with np.errstate(divide="ignore"):
        if within.ndim < 2:
            mean = np.average(within, weights=weights) + between.mean()
            return float(D * np.log(mean))
        total = np.average(within, axis=0, weights=weights)
        if within.ndim == 2:
            return float(np.log(total + between).sum())
        total = total + (steps * shares[:, None]).T @ steps
        return float(np.linalg.slogdet(total)[1])
