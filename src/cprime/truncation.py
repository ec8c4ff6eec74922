"""The C' clusters a row keeps, and the posterior truncated to them."""

from dataclasses import dataclass

import numpy as np

from cprime.theta import Coefficients
from cprime.typing import Array


def closest(scores: Array, C_prime: int) -> Array:
    """Return each row's C' clusters of smallest score, best first.

    Ties go to the lowest cluster index, for membership and for order, so the answer
    never depends on how rows are grouped or on the sorting algorithm.

    Parameters
    ----------
    scores : ndarray of shape (B, C)
    C_prime : int

    Returns
    -------
    K : ndarray of shape (B, C_prime), int32
    """
    B, C = scores.shape
    if C_prime == 1:
        best: Array = np.argmin(scores, axis=1).astype(np.int32)[:, None]
        return best
    if C_prime == C:
        kept = np.broadcast_to(np.arange(C), (B, C))
    else:
        last = np.partition(scores, C_prime - 1, axis=1)[:, C_prime - 1, None]
        inside, level = scores < last, scores == last
        vacancies = C_prime - inside.sum(axis=1, keepdims=True)
        inside |= level & (np.cumsum(level, axis=1) <= vacancies)
        kept = np.nonzero(inside)[1].reshape(B, C_prime)
    best_first = np.argsort(
        np.take_along_axis(scores, kept, axis=1), axis=1, kind="stable"
    )
    return np.take_along_axis(kept, best_first, axis=1).astype(np.int32)


@dataclass(frozen=True)
class Truncated:
    """For each row the clusters it keeps and how well each explains it.

    Attributes
    ----------
    K : ndarray of shape (B, C'), int32
        Kept clusters; K[:, 0] is the row's label.
    distances : ndarray of shape (B, C')
        ||y - mu_c||^2 of the kept clusters, by the canonical formula.
    highest : ndarray of shape (B, 1)
        log p(y, c | Theta) of the best kept cluster.
    relative : ndarray of shape (B, C')
        log p(y, c | Theta) of all kept clusters, less the highest.
    """

    K: Array
    distances: Array
    highest: Array
    relative: Array

    @classmethod
    def of(cls, distances: Array, K: Array, coefficients: Coefficients) -> "Truncated":
        """Return clusters K of rows whose distances to all clusters are given."""
        kept = np.take_along_axis(distances, K, axis=1)
        return cls(K, kept, *coefficients.log_joint(kept, K))

    def normalise(self) -> tuple[Array, Array, Array]:
        """Return the truncated posterior and the two numbers that go with it.

        Returns
        -------
        q : ndarray of shape (B, C')
            Posterior over the kept clusters, rows summing to one (Eq. 5).
        entropies : ndarray of shape (B,)
            -sum_c q log q.
        free_energies : ndarray of shape (B,)
            log sum_{c in K} p(y, c | Theta) (Eq. 7).
        """
        q = np.exp(self.relative)
        total = q.sum(axis=1, keepdims=True)
        q /= total
        log_total = np.log(total)[:, 0]
        # A cluster of no probability has no surprise either, however hopeless it is.
        surprise = np.where(q > 0, self.relative, 0.0)
        entropies = log_total - (q * surprise).sum(axis=1)
        return q, entropies, self.highest[:, 0] + log_total

    def responsibilities(self) -> Array:
        """Return q over the kept clusters, rows summing to one (Eq. 5)."""
        return self.normalise()[0]

    def free_energies(self) -> Array:
        """Return log sum_{c in K} p(y, c | Theta), one number a row (Eq. 7)."""
        return self.normalise()[2]
