"""The E-step in numpy: the specification every other kernel is tested against.

A sweep evaluates the clusters of every row, selects which to keep, normalises the
posterior over them and accumulates statistics. `posterior` is the first half alone.
"""

import numpy as np

from cprime.search import Plan
from cprime.stats import Stats, weighted_sum
from cprime.theta import Coefficients
from cprime.truncation import Truncated, closest
from cprime.typing import Array


def sweep(
    values: Array,
    weights: Array,
    K: Array | None,
    coefficients: Coefficients,
    plan: Plan,
    C_prime: int,
) -> tuple[Array, Stats]:
    """Update the clusters of every row and add up the block's statistics.

    Parameters
    ----------
    values : ndarray of shape (B, D)
    weights : ndarray of shape (B,), float64
    K : ndarray of shape (B, C') or None
        The clusters each row keeps now; None before the first sweep.
    coefficients : Coefficients
    plan : Plan
    C_prime : int

    Returns
    -------
    K : ndarray of shape (B, C'), int32
        The clusters each row keeps from now on. With C' = C there is nothing to
        remember and the shape is (B, 0).
    stats : Stats
    """
    columns = _columns(values)
    distances = evaluate(columns, coefficients.means)
    chosen = select(distances, K, coefficients, plan, C_prime)
    truncated = Truncated.of(distances, chosen, coefficients)
    stats = accumulate(columns, weights, K, truncated, coefficients)
    C = len(coefficients.means)
    return remembered(chosen, C), stats


def posterior(values: Array, coefficients: Coefficients, C_prime: int) -> Truncated:
    """Return the C' closest clusters of every row and their log-joints."""
    found = evaluate(_columns(values), coefficients.means)
    K = select(found, None, coefficients, Plan(), C_prime)
    return Truncated.of(found, K, coefficients)


def distances(values: Array, means: Array) -> Array:
    """Return ||y - mu_c||^2 for every row and every mean, shape (B, C)."""
    return evaluate(_columns(values), means)


def evaluate(columns: Array, means: Array) -> Array:
    """Return the canonical ||y - mu_c||^2, shape (B, C).

    Differences first, squares summed feature by feature from zero in float64: the order
    is part of the definition, so every kernel can settle near-ties to the same bit.
    """
    D, B = columns.shape
    total = np.zeros((B, len(means)))
    difference = np.empty_like(total)
    for d in range(D):
        np.subtract(columns[d][:, None], means[:, d], out=difference)
        np.multiply(difference, difference, out=difference)
        total += difference
    return total


def select(
    distances: Array,
    K: Array | None,
    coefficients: Coefficients,
    plan: Plan,
    C_prime: int,
) -> Array:
    """Return the clusters every row keeps, best first (Cor. 1, or lazy-k-means)."""
    scores = distances + coefficients.penalty()
    chosen = closest(scores, C_prime)
    if K is None or plan.reluctance == 1.0 or K.shape[1] == 0:
        return chosen
    moves = np.take_along_axis(scores, chosen, axis=1) < (
        np.take_along_axis(scores, K, axis=1) / plan.reluctance
    )
    return np.where(moves, chosen, K)


def accumulate(
    columns: Array,
    weights: Array,
    K_before: Array | None,
    truncated: Truncated,
    coefficients: Coefficients,
) -> Stats:
    """Add up the weighted moments of the rows about the current means."""
    K = truncated.K
    q, entropies, free_energies = truncated.normalise()
    C, D = coefficients.means.shape
    shares = weights[:, None] * q
    clusters = K.ravel()
    shifts = np.empty((C, D))
    for d in range(D):
        difference = columns[d][:, None] - coefficients.means[K, d]
        shifts[:, d] = np.bincount(clusters, (shares * difference).ravel(), minlength=C)
    return Stats(
        counts=np.bincount(clusters, shares.ravel(), minlength=C),
        shifts=shifts,
        scatter=float(np.sum(shares * truncated.distances)),
        quantization_error=weighted_sum(weights, truncated.distances[:, 0]),
        entropy=weighted_sum(weights, entropies),
        free_energy=weighted_sum(weights, free_energies),
        weight=float(np.sum(weights)),
        evaluations=len(weights) * C,
        changed=_n_changed(K_before, remembered(K, C), weights),
    )


def remembered(K: Array, C: int) -> Array:
    """Return what of K a row must carry to the next sweep: nothing, if it is all C."""
    return np.empty((len(K), 0), dtype=K.dtype) if K.shape[1] == C else K


def _columns(values: Array) -> Array:
    """Return the rows feature by feature, shape (D, B), in float64."""
    return np.ascontiguousarray(values.T, dtype=np.float64)


def _n_changed(before: Array | None, after: Array, weights: Array) -> int:
    if before is None:
        return int(np.count_nonzero(weights))
    differs = (np.sort(before, axis=1) != np.sort(after, axis=1)).any(axis=1)
    return int(np.count_nonzero(differs & (weights > 0)))
