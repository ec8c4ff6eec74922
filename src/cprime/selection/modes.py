"""Which clusters are groups of their own, and which are parts of one?"""

import math
from dataclasses import dataclass

import numpy as np

from cprime.blas import one_thread
from cprime.selection.shapes import Mixture
from cprime.typing import Array

# A valley that a model promises is not there if rows like these have less probability.
CONTRADICTED = 0.01
# Fewer rows than this show no valley. Were there none, half of those about its middle
# and the lower peak would be in it: all of four may well be on the peak by chance.
FEWEST_ROWS = 5
# Clusters farther apart than this, in standard deviations of both, have a valley.
FAR = 8.0
# Where a density along a line is looked at.
POINTS = 400


@one_thread()
def groups(mixture: Mixture, X: Array, weights: Array, labels: Array) -> Array:
    """Return the group of every cluster, shape (C,), numbered from 0.

    A cluster belongs to one at whose mean the density is higher if there is no valley
    between them: on the line that separates them best their density has one peak, or it
    has two but rows do not show it, being no fewer in the valley than on the lower one,
    or too few to tell.
    If there are several such, it belongs to the one of highest density at its own mean:
    the tails of many clusters, found as one wide one, do not make them one group.

    Parameters
    ----------
    mixture : Mixture
    X : ndarray of shape (N, D)
    weights : ndarray of shape (N,)
    labels : ndarray of shape (N,)
        The cluster of every row.
    """
    C = len(mixture.means)
    counts = np.bincount(labels, weights, minlength=C)
    of_cluster = [np.flatnonzero(labels == c) for c in range(C)]
    densities = _log_densities_at_means(mixture)
    highest = np.logaddexp.reduce(densities, axis=0)
    from_the_highest = np.argsort(-highest, kind="stable")
    group = np.arange(C)
    for place, c in enumerate(from_the_highest):
        higher = from_the_highest[:place]
        for other in higher[np.argsort(-densities[higher, c], kind="stable")]:
            rows = np.concatenate([of_cluster[c], of_cluster[other]])
            between = _Between.of(mixture, c, other)
            is_few = min(counts[c], counts[other]) < FEWEST_ROWS
            if (is_few and not between.are_far) or not between.has_valley(
                X, weights, rows
            ):
                group[c] = group[other]
                break
    found: Array = np.unique(group, return_inverse=True)[1]
    return found


def _log_densities_at_means(mixture: Mixture) -> Array:
    """Return log p(mu_c, k) of every cluster k at every mean c, shape (k, c)."""
    roots = np.linalg.cholesky(mixture.matrices)
    steps = mixture.means[None] - mixture.means[:, None]
    whitened = np.linalg.solve(roots, np.swapaxes(steps, 1, 2))
    volumes = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    with np.errstate(divide="ignore"):
        heights = np.log(mixture.proportions) - volumes
    found: Array = heights[:, None] - 0.5 * np.sum(whitened**2, axis=1)
    return found


@dataclass(frozen=True)
class _Between:
    """Two clusters on the line that separates them best.

    Attributes
    ----------
    direction : ndarray of shape (D,)
        Fisher's discriminant.
    shares, centers, spreads : ndarray of shape (2,)
        Proportions, means and standard deviations on the line.
    """

    direction: Array
    shares: Array
    centers: Array
    spreads: Array

    @classmethod
    def of(cls, mixture: Mixture, i: int, j: int) -> "_Between":
        pair = [i, j]
        shares, matrices = mixture.proportions[pair], mixture.matrices[pair]
        means = mixture.means[pair]
        within = np.average(matrices, axis=0, weights=np.maximum(shares, 1e-300))
        direction = np.linalg.solve(within, means[1] - means[0])
        spreads = np.sqrt(np.einsum("i,kij,j->k", direction, matrices, direction))
        return cls(direction, shares, means @ direction, spreads)

    @property
    def are_far(self) -> bool:
        """Whether they are too far apart for anything but a valley between them."""
        apart = float(self.centers[1] - self.centers[0])
        return apart > FAR * float(self.spreads.sum())

    def has_valley(self, X: Array, weights: Array, rows: Array) -> bool:
        """Return whether there is one, in the model and as these rows show it."""
        if not (self.centers[1] > self.centers[0] and self.shares.min() > 0):
            return False
        if self.are_far:
            return True
        turning = self._turning_points()
        if turning is None:
            return False
        valley, peak = turning
        half = 0.5 * abs(peak - valley)
        places, of_rows = X[rows] @ self.direction, weights[rows]
        in_valley, on_peak = (
            float(of_rows[np.abs(places - at) <= half].sum()) for at in turning
        )
        if in_valley < on_peak:
            return True
        promised = self._mass(valley, half)
        expected = promised / (promised + self._mass(peak, half))
        n_rows = in_valley + on_peak
        return _at_least(in_valley, n_rows, expected) >= CONTRADICTED

    def _turning_points(self) -> tuple[float, float] | None:
        """Return where the valley and the lower of the two peaks are, if there are."""
        first, last = self.centers + self.spreads * [-1.0, 1.0]
        z = np.linspace(first, last, POINTS)
        steps = (z[:, None] - self.centers) / self.spreads
        density = np.exp(-0.5 * steps * steps) @ (self.shares / self.spreads)
        rises = np.diff(density) > 0
        valleys = np.flatnonzero(~rises[:-1] & rises[1:]) + 1
        if len(valleys) == 0:
            return None
        valley = int(valleys[np.argmin(density[valleys])])
        left = int(np.argmax(density[:valley]))
        right = valley + int(np.argmax(density[valley:]))
        peak = left if density[left] < density[right] else right
        return float(z[valley]), float(z[peak])

    def _mass(self, at: float, half: float) -> float:
        """Return what the model expects within `half` of a place."""
        return sum(
            float(share) * (_below((at + half - c) / s) - _below((at - half - c) / s))
            for share, c, s in zip(self.shares, self.centers, self.spreads)
        )


def _below(deviations: float) -> float:
    """Return the share of a normal distribution below so many deviations."""
    return 0.5 * math.erfc(-deviations / math.sqrt(2.0))


def _at_least(k: float, n: float, p: float) -> float:
    """Return the probability of k or more successes in n trials."""
    trials, successes = math.ceil(n), np.arange(math.ceil(n) + 1)
    # Logarithms of binomial coefficients, each from the one before.
    factors = np.log(trials - successes[:-1]) - np.log(successes[1:])
    logs = np.concatenate([[0.0], np.cumsum(factors)])
    logs += successes * math.log(p) + (trials - successes) * math.log1p(-p)
    return float(np.exp(logs[math.ceil(k) :]).sum())
