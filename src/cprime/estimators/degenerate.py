"""What if clusters, or their variance, vanish?"""

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cprime.estimators.warn import warn
from cprime.theta import Theta


def variance_floor(overall: Theta) -> float:
    """Return the smallest variance that means anything for rows spread like these."""
    spread = overall.covariance or float(np.max(overall.means**2)) or 1.0
    return spread * float(np.finfo(np.float64).eps) ** 2


def warn_if_degenerate(estimator: Any, floored: bool, why_too_few: str) -> None:
    """Say in one warning if clusters or, by itself, their variance has vanished."""
    messages = []
    distinct = len(np.unique(estimator.labels_))
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
