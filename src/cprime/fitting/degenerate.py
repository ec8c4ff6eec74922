"""What if clusters, or their variance, vanish?"""

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cprime.checking.units import Units
from cprime.checking.warn import warn
from cprime.fitting.missing_values import FeatureMoments
from cprime.kernels.tensors import from_gpu
from cprime.theta import Theta
from cprime.typing import Array

EPSILON = float(np.finfo(np.float64).eps)
# Unless a user says otherwise, no cluster is narrower than this share of the data's
# variance in any direction.
RELATIVE_FLOOR = 1e-6
# A standard deviation of so many roundings of the mean is that of a constant.
CONSTANT = 8.0
# Variances are comparable in float64 down to this share of the largest.
WIDEST = 1e-280
# Clusters a warning names; of more it gives the number.
MOST_NAMED = 10


def variance_floor(overall: Theta) -> float:
    """Return the smallest variance that means anything for rows spread like these."""
    spread = overall.covariance or float(np.max(overall.means**2)) or 1.0
    return spread * EPSILON**2


def covariance_floor(
    known: FeatureMoments, units: Units, reg_covar: float | None, resolution: float
) -> Array:
    """Return the smallest variance a cluster may have, feature by feature.

    Parameters
    ----------
    known : FeatureMoments
        Means and variances of the features.
    units : Units
    reg_covar : float, optional
        As a user gives it: by default a share of the variance.
    resolution : float
        The smallest such share that float64 can do with.
    """
    means, variances = known.means, known.variances
    constant = variances <= (CONSTANT * EPSILON * means) ** 2
    typical = float(np.mean(variances[~constant])) if not constant.all() else 0.0
    typical = typical or float(np.max(means**2)) or 1.0
    scales = np.where(constant, typical, variances)
    scales = np.maximum(scales, scales.max() * WIDEST)
    if reg_covar is None:
        return RELATIVE_FLOOR * scales
    clip = float(reg_covar) * units.scale * units.scale
    return np.maximum(clip, resolution * scales)


def warn_if_wanting(mixture: Any) -> None:
    """Say in one warning what is wrong with the fit of a `GaussianMixture`."""
    messages = []
    if not mixture.converged_ and mixture.max_iter > 0:
        messages.append(
            "Best performing initialization did not converge. Try different init "
            "parameters, or increase max_iter, tol, or check for degenerate data."
        )
    if mixture._floored:
        messages.append(
            f"The covariance of {_named(mixture._floored)} of "
            f"{mixture.n_components} was clipped at its floor (reg_covar), because it "
            "is flat or nearly so: the likelihood depends on that floor. If columns "
            "are constant or collinear, drop them; else fewer clusters, a simpler "
            "covariance_type or another reg_covar may help."
        )
    if mixture._relocated:
        messages.append(
            f"No row was left to {_named(mixture._relocated)}. Each such cluster was "
            "restarted at a row that fitted badly."
        )
    if mixture._empty:
        messages.append(
            f"No row belongs to {_named(mixture._empty)}, and no row of another "
            "cluster is explained better by it: fewer clusters are enough."
        )
    if messages:
        warn(" ".join(messages), ConvergenceWarning)


def _named(clusters: list[int]) -> str:
    first = ", ".join(str(cluster) for cluster in clusters[:MOST_NAMED])
    if len(clusters) > MOST_NAMED:
        first += f", ... ({len(clusters)} in all)"
    return f"cluster {first}" if len(clusters) == 1 else f"clusters {first}"


def warn_if_degenerate(estimator: Any, floored: bool, why_too_few: str) -> None:
    """Say in one warning if clusters or, by itself, their variance has vanished."""
    messages = []
    # Where labels are on a cluster, so is this, until it is a number.
    counts = np.bincount(from_gpu(estimator.labels_), minlength=estimator.n_clusters)
    distinct = int(np.count_nonzero(counts))
    if distinct < estimator.n_clusters:
        messages.append(
            f"Number of distinct clusters ({distinct}) found smaller than "
            f"n_clusters ({estimator.n_clusters}). Possibly due to {why_too_few}."
        )
    if floored:
        messages.append(
            (
                "Every row lies on a cluster center"
                if estimator.inertia_ == 0.0
                else "The clusters are narrower than float64 can resolve beside "
                "the spread of the data"
            )
            + f": the variance is floored at {estimator.variance_:.3g}, and "
            "free_energy_ and log_likelihood_ are those of that floor."
        )
    if messages:
        warn(" ".join(messages), ConvergenceWarning)
