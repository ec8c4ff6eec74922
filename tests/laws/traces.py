"""The history of a fit: F after every M-step, and what may not happen to it."""

import numpy as np
import paper

# An M-step's scatter may lie this far below the one it is subtracted from.
DEEPEST_FALL = 2.0**20


def history(kmeans):
    """Return F and the variance after every M-step and after the last sweep."""
    F, variance = kmeans.trace_["free_energy"], kmeans.trace_["variance"]
    if kmeans.cluster_centers_.dtype == np.float64:
        # Centres rounded to float32 are not quite the best ones any more.
        F, variance = np.r_[F, kmeans.free_energy_], np.r_[variance, kmeans.variance_]
    return F, variance, kmeans.n_features_in_


def assert_never_falls(F, variance, D):
    """Fail if F falls by more than rounding explains.

    An M-step subtracts from the scatter before it: where the variance collapses, F is
    known only as well as what is left.
    """
    falls = np.minimum(np.r_[1.0, variance[:-1] / variance[1:]], DEEPEST_FALL)
    errors = [paper.rounding(f, D * fall) for f, fall in zip(F, falls)]
    assert np.all(np.diff(F) >= -np.add(errors[:-1], errors[1:]))
