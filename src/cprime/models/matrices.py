"""Covariance matrices: kept off singularity, inverted, and their remains."""

import numpy as np
from numpy.linalg import cholesky, eigh

from cprime.stats import KNOWN_SHARE
from cprime.typing import Array

# Eigenvalues this close to a floor are on it.
ROUNDING = 1e-6


def clipped(covariances: Array, floor: Array) -> Array:
    """Return matrices whose eigenvalues, in units of the floor, are at least 1.

    Of all Sigma with Sigma - diag(floor) positive, it is the one under which rows of
    this scatter are most likely, so a clipped M-step still raises F.

    Parameters
    ----------
    covariances : ndarray of shape (..., D, D)
    floor : ndarray of shape (D,)
    """
    highest = floor.max()
    units = np.sqrt(np.outer(floor / highest, floor / highest))
    eigenvalues, vectors = eigh(covariances / units)
    low = eigenvalues[..., 0] < highest
    if not np.any(low):
        return covariances
    risen = np.maximum(eigenvalues, highest)[..., None, :]
    repaired = (vectors * risen) @ np.swapaxes(vectors, -1, -2)
    return np.where(low[..., None, None], repaired * units, covariances)


def clipped_ones(covariances: Array, floor: Array) -> list[int]:
    """Return which matrices have an eigenvalue of 1 in units of the floor."""
    units = np.sqrt(np.outer(floor / floor.max(), floor / floor.max()))
    lowest = np.linalg.eigvalsh(covariances / units)[..., 0]
    return np.flatnonzero(lowest <= floor.max() * (1.0 + ROUNDING)).tolist()


def whitening(covariances: Array) -> Array:
    """Return the lower triangles W with W^T W = Sigma^-1: inverse Cholesky factors."""
    identity = np.eye(covariances.shape[-1])
    return np.linalg.solve(cholesky(covariances), identity)


def remaining(scatter: Array, taken: Array) -> Array:
    """Return scatter - taken, with diagonals that rounding cannot have eaten."""
    left = scatter - taken
    least = KNOWN_SHARE * np.diagonal(scatter, axis1=-2, axis2=-1)
    lack = np.maximum(least - np.diagonal(left, axis1=-2, axis2=-1), 0.0)
    repaired: Array = left + lack[..., None] * np.eye(scatter.shape[-1])
    return repaired
