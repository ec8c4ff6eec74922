"""What rows of a leaf add up to, and what they carry to the next sweep, in numpy."""

import numpy as np

from cprime.typing import Array


def first_moments(
    columns: Array, K: Array, shares: Array, means: Array
) -> tuple[Array, Array]:
    """Return sum s_c, and sum s_c (y - mu_c), of rows with shares in clusters K."""
    C, D = means.shape
    clusters = K.ravel()
    shifts = np.empty((C, D))
    for d in range(D):
        difference = columns[d][:, None] - means[K, d]
        shifts[:, d] = np.bincount(clusters, (shares * difference).ravel(), minlength=C)
    return np.bincount(clusters, shares.ravel(), minlength=C), shifts


def remembered(K: Array, C: int) -> Array:
    """Return what of K a row must carry to the next sweep: nothing, if it is all C."""
    return np.empty((len(K), 0), dtype=K.dtype) if K.shape[1] == C else K


def n_changed(before: Array | None, after: Array, weights: Array) -> int:
    """Return how many rows of positive weight keep other clusters than before."""
    if before is None or before.shape != after.shape:
        return int(np.count_nonzero(weights))
    differs = (np.sort(before, axis=1) != np.sort(after, axis=1)).any(axis=1)
    return int(np.count_nonzero(differs & (weights > 0)))
