"""Covariance matrices: kept off singularity, inverted, and their remains."""

import numpy as np
from numpy.linalg import LinAlgError, cholesky, eigh
from scipy.linalg.lapack import dtrtri

from cprime.blas import one_thread
from cprime.stats import KNOWN_SHARE
from cprime.typing import Array

# Share of the largest eigenvalue, per feature, below which others are rounding errors.
RESOLVED = 4.0 * float(np.finfo(np.float64).eps)
# Whitenings of matrices rounder than this have enough digits to bound eigenvalues, and
# those that exceed a bound by so much exceed it.
ROUND, CLEAR = 1e-9, 1.01
# Eigenvalues this close to a floor are on it.
ROUNDING = 1e-6


def clipped(covariances: Array, floor: Array) -> Array:
    """Return matrices whose eigenvalues, in units of the floor, are at least 1.

    Of all Sigma with Sigma - diag(floor) positive, it is the one under which rows of
    this scatter are most likely, so a clipped M-step still raises F.

    Where a matrix is so much longer than wide that float64 could not invert it, they
    are at least what it can.

    Parameters
    ----------
    covariances : ndarray of shape (..., D, D)
    floor : ndarray of shape (..., D)
    """
    highest, units = _units(floor)
    eigenvalues, vectors = eigh(covariances / units)
    least = _least(eigenvalues, highest)
    low = eigenvalues[..., 0] < least
    if not np.any(low):
        return covariances
    risen = np.maximum(eigenvalues, least[..., None])[..., None, :]
    repaired = (vectors * risen) @ np.swapaxes(vectors, -1, -2)
    return np.where(low[..., None, None], repaired * units, covariances)


def whitening_if_clear(covariances: Array, floor: Array) -> Array | None:
    """Return the whitening of matrices that `clipped` leaves alone, if that is clear.

    Without eigenvalues, which cost more than all the rest. Parameters as there.
    """
    if not np.all(covariances.diagonal(axis1=-2, axis2=-1) > floor):
        return None
    try:
        found = whitening(covariances)
    except LinAlgError:
        return None
    return found if are_clear(covariances, found, floor) else None


def are_clear(covariances: Array, whitening: Array, floor: Array) -> bool:
    """Return whether all eigenvalues are clearly above what `clipped` raises them to.

    The smallest is at least the inverse of the trace of the inverse, the largest at
    most the trace.
    """
    highest = floor.max(axis=-1)
    roots = np.sqrt(floor / highest[..., None])
    smallest = 1.0 / np.square(whitening * roots[..., None, :]).sum(axis=(-2, -1))
    variances = covariances.diagonal(axis1=-2, axis2=-1)
    largest = (variances / np.square(roots)).sum(axis=-1)
    return bool(np.all(smallest > CLEAR * np.maximum(highest, ROUND * largest)))


def clipped_ones(covariances: Array, floor: Array) -> list[int]:
    """Return which matrices have an eigenvalue as small as `clipped` leaves them."""
    highest, units = _units(floor)
    eigenvalues = np.linalg.eigvalsh(covariances / units)
    least = _least(eigenvalues, highest)
    return np.flatnonzero(eigenvalues[..., 0] <= least * (1.0 + ROUNDING)).tolist()


def too_flat(covariances: Array, floor: Array) -> Array:
    """Return for every matrix whether `clipped` would raise more than rounding did."""
    highest, units = _units(floor)
    eigenvalues = np.linalg.eigvalsh(covariances / units)
    resolution, least = _resolution(eigenvalues), _least(eigenvalues, highest)
    flat: Array = eigenvalues[..., 0] < least * (1.0 - ROUNDING) - resolution
    return flat


def _units(floor: Array) -> tuple[Array, Array]:
    """Return the highest floor, and what covariances are divided by to compare them."""
    highest: Array = floor.max(axis=-1)
    roots = np.sqrt(floor / highest[..., None])
    return highest, roots[..., :, None] * roots[..., None, :]


def _least(eigenvalues: Array, highest: Array) -> Array:
    least: Array = np.maximum(highest, _resolution(eigenvalues))
    return least


def _resolution(eigenvalues: Array) -> Array:
    resolution: Array = RESOLVED * eigenvalues.shape[-1] * eigenvalues[..., -1]
    return resolution


def whitening(covariances: Array) -> Array:
    """Return the lower triangles W with W^T W = Sigma^-1: inverse Cholesky factors.

    Those of correlations, so that every feature may have its own scale.
    """
    deviations = np.sqrt(covariances.diagonal(axis1=-2, axis2=-1))
    scales = deviations[..., :, None] * deviations[..., None, :]
    lower = cholesky(covariances / scales)
    inverse = np.empty_like(lower)
    for one in np.ndindex(lower.shape[:-2]):
        # As the upper triangles they are column by column: nothing has to be copied.
        inverse[one] = dtrtri(lower[one].T, lower=0)[0].T
    whitened: Array = inverse / deviations[..., None, :]
    return whitened


@one_thread()
def inverted(matrices: Array) -> Array:
    """Return the inverses of positive matrices: precisions of covariances, and back."""
    factors = whitening(matrices)
    inverses: Array = np.swapaxes(factors, -1, -2) @ factors
    return inverses


def remaining(scatter: Array, taken: Array) -> Array:
    """Return scatter - taken, with diagonals that rounding cannot have eaten."""
    left = scatter - taken
    least = KNOWN_SHARE * scatter.diagonal(axis1=-2, axis2=-1)
    lack = np.maximum(least - left.diagonal(axis1=-2, axis2=-1), 0.0)
    repaired: Array = left + lack[..., None] * np.eye(scatter.shape[-1])
    return repaired
