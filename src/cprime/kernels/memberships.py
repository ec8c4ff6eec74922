"""How is a row divided among its clusters, other than by a posterior?

Given a row's squared distances d_c to the clusters it keeps, a rule chooses memberships
u_c >= 0 with sum u_c = 1 for which the row pays least. Whatever the rule, a row never
pays less when a d_c grows. So a row that may keep C' clusters does best to keep the
closest: exchanging one of them for one farther away cannot lower what it pays.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cprime.typing import Array


class Rule(Protocol):
    """What a row pays for its memberships, and which are therefore best."""

    def memberships(self, distances: Array) -> Array:
        """Return the best memberships for squared distances to some clusters.

        Parameters
        ----------
        distances : ndarray of shape (B, C')
            Finite.

        Returns
        -------
        u : ndarray of shape (B, C')
            Rows sum to one.
        """

    def shares(self, memberships: Array) -> Array:
        """Return what a row pays of each squared distance, and weighs in each mean."""

    def entropies(self, memberships: Array) -> Array:
        """Return what every row pays less than that; nothing if it has one cluster."""


@dataclass(frozen=True)
class Bezdek:
    """Fuzzy c-means: a row pays sum_c u_c^m d_c (Bezdek 1981).

    Then u_c is proportional to d_c^(-1 / (m - 1)), and the row pays
    (sum_c d_c^(-1 / (m - 1)))^(1 - m): less, the closer its clusters and the more.

    Parameters
    ----------
    m : float
        More than 1. Towards 1 a row belongs to its closest cluster alone.
    """

    m: float

    def memberships(self, distances: Array) -> Array:
        closest = distances.min(axis=1, keepdims=True)
        # Logarithms of quotients: of the distances themselves they would lose digits,
        # which 1 / (m - 1) multiplies. A row on a centre has excesses 0/0 and x/0.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            excess = np.log1p((distances - closest) / closest)
            excess = np.where(distances == closest, 0.0, excess)
            u = np.exp(-excess / (self.m - 1.0))
        u /= u.sum(axis=1, keepdims=True)
        return u

    def shares(self, memberships: Array) -> Array:
        powers: Array = memberships**self.m
        return powers

    def entropies(self, memberships: Array) -> Array:
        return np.zeros(len(memberships))


@dataclass(frozen=True)
class Quadratic:
    """A row pays sum_c u_c d_c + lam (sum_c u_c^2 - 1) (Miyamoto & Umayahara 1998).

    Then u is the point of the simplex nearest to -d / (2 lam): clusters far enough
    behind the closest have memberships of exactly 0.

    Parameters
    ----------
    lam : float
        Positive, a squared distance. Towards 0 a row belongs to its closest cluster
        alone.
    """

    lam: float

    def memberships(self, distances: Array) -> Array:
        closest = distances.min(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            # Halved first: twice lam may be more than float64 holds.
            behind = 0.5 * (distances - closest) / self.lam
            # The k closest share one level, if it leaves the last of them something.
            ranked = np.sort(behind, axis=1)
            sizes = np.arange(1, ranked.shape[1] + 1)
            levels = (1.0 + np.cumsum(ranked, axis=1)) / sizes
        n_inside = np.sum(ranked < levels, axis=1, keepdims=True)
        level = np.take_along_axis(levels, n_inside - 1, axis=1)
        u: Array = np.maximum(level - behind, 0.0)
        u /= u.sum(axis=1, keepdims=True)
        return u

    def shares(self, memberships: Array) -> Array:
        return memberships

    def entropies(self, memberships: Array) -> Array:
        spared: Array = self.lam * np.sum(memberships * (1.0 - memberships), axis=1)
        return spared
