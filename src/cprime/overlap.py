"""How much do two clusters overlap?

By the Bhattacharyya coefficient of their Gaussians p and p', the integral of
sqrt(p p'): 1 where they are the same, 0 where they share nothing. Half of it bounds the
share of rows of an equal pair that even the best rule takes for the other's.
"""

from typing import Any

import numpy as np

from cprime.models.matrices import whitening
from cprime.typing import Array

# Numbers of matrices that are worked on at once.
AT_ONCE = 2**22
# The corner of a bordered matrix: large beside any squared distance.
CORNER = 1e300


def overlaps(means: Array, covariance: Any) -> Array:
    """Return the Bhattacharyya coefficient of every two clusters.

    Parameters
    ----------
    means : ndarray of shape (C, D)
    covariance : float or ndarray
        One variance for all; or of shape (C,), (C, D), (C, D, D), or (1, D, D) for all
        alike.

    Returns
    -------
    overlaps : ndarray of shape (C, C)
        Symmetric, from 0 to 1; 1 on the diagonal.
    """
    found: Array = np.exp(-bhattacharyya_distances(means, covariance))
    return found


def closest(distances: Array) -> Array:
    """Return which other cluster each one overlaps most with; -1 if there is none.

    Parameters
    ----------
    distances : ndarray of shape (C, C)
        Of `bhattacharyya_distances`, which still differ where overlaps are all zero.
    """
    if len(distances) < 2:
        return np.full(len(distances), -1)
    others = distances.copy()
    np.fill_diagonal(others, np.inf)
    nearest: Array = others.argmin(axis=1)
    return nearest


def bhattacharyya_distances(means: Array, covariance: Any) -> Array:
    """Return minus the logarithm of `overlaps`, which does not underflow.

    For Gaussians with covariances A and B, S = (A + B) / 2, and d between their means:
    1/8 d^T S^-1 d + 1/2 log(|S| / sqrt(|A| |B|)).

    Parameters as for `overlaps`.
    """
    means = np.asarray(means, dtype=np.float64)
    covariance = np.asarray(covariance, dtype=np.float64)
    if covariance.ndim == 3 and len(covariance) == 1:
        means, covariance = means @ whitening(covariance)[0].T, np.ones(())
    if covariance.ndim == 3:
        return _of_matrices(means, covariance)
    if covariance.ndim == 0:
        return _of_variances(means / np.sqrt(covariance), np.ones((len(means), 1)))
    return _of_variances(means, covariance.reshape(len(means), -1))


def _of_variances(means: Array, variances: Array) -> Array:
    """Return distances of clusters along the axes; one variance may serve them all."""
    C, D = means.shape
    found, axes = np.empty((C, C)), D // variances.shape[1]
    logarithms = np.log(variances)
    for c in range(C):
        between = 0.5 * variances + 0.5 * variances[c]
        apart = ((means - means[c]) ** 2 / between).sum(axis=1)
        means_of_logs = 0.5 * logarithms + 0.5 * logarithms[c]
        unlike = axes * (np.log(between) - means_of_logs).sum(axis=1)
        found[c] = 0.125 * apart + 0.5 * np.maximum(unlike, 0.0)
    return found


def _of_matrices(means: Array, covariances: Array) -> Array:
    C, D = means.shape
    found = np.zeros((C, C))
    logarithms = np.linalg.slogdet(covariances)[1]
    first, second = np.triu_indices(C, k=1)
    step = max(1, AT_ONCE // (D + 1) ** 2)
    for start in range(0, len(first), step):
        a, b = first[start : start + step], second[start : start + step]
        # In a bordered matrix one Cholesky factor holds both: the root of |S| on its
        # diagonal, and in its last row the whitened difference.
        bordered = np.empty((len(a), D + 1, D + 1))
        bordered[:, :D, :D] = 0.5 * covariances[a] + 0.5 * covariances[b]
        bordered[:, D, :D] = bordered[:, :D, D] = means[a] - means[b]
        bordered[:, D, D] = CORNER
        factors = np.linalg.cholesky(bordered)
        apart = (factors[:, D, :D] ** 2).sum(axis=1)
        pivots = np.diagonal(factors, axis1=1, axis2=2)[:, :D]
        halves = np.log(pivots).sum(axis=1)
        unlike = 2.0 * halves - 0.5 * logarithms[a] - 0.5 * logarithms[b]
        found[a, b] = 0.125 * apart + 0.5 * np.maximum(unlike, 0.0)
    return found + found.T
