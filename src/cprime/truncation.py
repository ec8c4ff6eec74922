"""The C' clusters a row keeps, and the posterior truncated to them."""

from dataclasses import dataclass, fields

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


def closest_reluctantly(
    scores: Array, K: Array, reluctance: float, C_prime: int
) -> Array:
    """Return clusters as `closest` does, where those in K count as so much closer.

    Each that a row leaves is replaced by one that raises F (Prop. 1).

    Parameters
    ----------
    scores : ndarray of shape (B, C)
    K : ndarray of shape (B, C' or 1), int32
        One that is there more than once, as after a move to an empty cluster, counts
        once.
    reluctance : float
    C_prime : int
    """
    is_new = np.ones(scores.shape, dtype=bool)
    np.put_along_axis(is_new, K, False, axis=1)
    with np.errstate(invalid="ignore"):
        # Boundless reluctance keeps a cluster however far it is.
        reluctant = np.nan_to_num(scores / reluctance, nan=0.0, posinf=np.inf)
    wanted = np.where(is_new, scores, reluctant)
    chosen = np.lexsort((scores, is_new, wanted), axis=1)[:, :C_prime]
    among_chosen = np.full(scores.shape, np.inf)
    np.put_along_axis(
        among_chosen, chosen, np.take_along_axis(scores, chosen, axis=1), axis=1
    )
    return closest(among_chosen, C_prime)


def label_first(K: Array, shares: Array) -> Array:
    """Return shares of which the label's, K[:, 0], is the first maximum in every row.

    A label is decided by distances, to the last bit, and ties go to the lowest index.
    Shares know less: clusters whose distances differ may have the same one, once it is
    rounded, the more so in float32 or for a row far away. Were that of a lower index
    then found first, shares and label would disagree. So the label's, which is not less
    than any other, is raised to the next number: by no more than rounding has changed.

    Parameters
    ----------
    K : ndarray of shape (B, C'), int32
        The clusters a row is divided among, its label first.
    shares : ndarray of shape (B, C')
        Rows sum to one. Changed in place.
    """
    tied = np.any((shares[:, 1:] == shares[:, :1]) & (K[:, 1:] < K[:, :1]), axis=1)
    shares[tied, 0] = np.nextafter(shares[tied, 0], shares.dtype.type(1))
    return shares


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

    @classmethod
    def concatenated(cls, parts: list["Truncated"]) -> "Truncated":
        """Return the rows of all parts, in order."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            *(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls))
        )

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


def gaps_of(distances: Array, K: Array, coefficients: Coefficients) -> Array:
    """Return log(1 + sum_{c not in K} p(c, y) / sum_{c in K} p(c, y)) of every row.

    It is the KL divergence from the truncated to the full posterior, never formed by
    subtraction, so a gap of 1e-20 is not reported as zero.

    Parameters
    ----------
    distances : ndarray of shape (B, C)
        ||y - mu_c||^2 to all clusters.
    K : ndarray of shape (B, any)
        The clusters each row keeps.
    coefficients : Coefficients

    Returns
    -------
    gaps : ndarray of shape (B,)
    """
    _, relative = coefficients.log_joint(distances, np.arange(distances.shape[1]))
    kept = np.zeros(relative.shape, dtype=bool)
    np.put_along_axis(kept, K, True, axis=1)
    inside = _log_sum_exp(np.where(kept, relative, -np.inf))
    outside = _log_sum_exp(np.where(kept, -np.inf, relative))
    lost: Array = np.logaddexp(0.0, outside - inside)
    return lost


def _log_sum_exp(log_values: Array) -> Array:
    """Return log sum exp over each row; -inf where every value is."""
    highest = log_values.max(axis=1)
    offset = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        total: Array = np.log(np.exp(log_values - offset[:, None]).sum(axis=1)) + offset
    return total
