"""The E-step of rows with missing values (NaN), in numpy.

A missing value is as unknown as the row's cluster, and is integrated out like it. For
whitenings along the axes its feature then leaves the formula:

log p(y, c) = bias_c - 1/2 ||whitening (y - mu_c)||^2 + sum 1/2 log(2 pi sigma_cd^2)

where the norm goes over the features observed, the sum over those missing. Statistics
hold what is expected of a missing value if the row is of cluster c: it lies at mu_c,
give or take sigma_c. With its entropy beside them, models find in these statistics the
exact M-step and the exact F, and need not know that anything was missing.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.blocks import Block, Kept
from cprime.kernels import reference
from cprime.kernels.reference import leaf_by_leaf, parts, select
from cprime.kernels.row_sums import n_changed, remembered
from cprime.kernels.whitening import canonical, columns_of
from cprime.search import Plan
from cprime.stats import Stats, weighted_sum
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.truncation import Truncated, gaps_of
from cprime.typing import Array

LOG_2_PI = math.log(2.0 * math.pi)
ONLY_COMPLETE = "Seeds are rows of which every value is known: fill them in."


@dataclass(frozen=True)
class Marginal:
    """Sweeps rows over what is observed of them.

    Parameters
    ----------
    variances : ndarray of shape (D,), optional
        How far from a cluster's mean its missing values are taken to lie, where the
        clusters' own variances mean nothing yet. By default it is those, which no other
        choice surpasses in F.
    """

    variances: Array | None = None

    def prepare(self, block: Block) -> Block:
        return block

    def sweep(
        self,
        block: Block,
        kept: Kept | None,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[Kept, LeafSum]:
        """Update the clusters of every row and add up statistics, leaf by leaf."""
        variances = self.variances
        if variances is None:
            variances = _per_feature(coefficients) ** -2.0
        expected = np.broadcast_to(variances, coefficients.means.shape)

        def one(
            values: Array, weights: Array, K: Array | None, first: int
        ) -> tuple[Array, Stats]:
            leaf = _Leaf.of(values, coefficients)
            chosen = select(leaf.scores, K, coefficients, plan, C_prime)
            truncated = leaf.truncated(chosen, coefficients)
            stats = _accumulate(leaf, weights, K, truncated, coefficients, expected)
            return remembered(chosen, len(coefficients.means)), stats

        return leaf_by_leaf(block, kept, one)

    def posterior(
        self, values: Array, coefficients: Coefficients, C_prime: int
    ) -> Truncated:
        """Return the C' most likely clusters of every row and their log-joints."""

        def of_part(part: Array) -> Truncated:
            leaf = _Leaf.of(part, coefficients)
            K = select(leaf.scores, None, coefficients, Plan(), C_prime)
            return leaf.truncated(K, coefficients)

        return Truncated.concatenated([of_part(part) for part in parts(values)])

    def nearest(self, values: Array, coefficients: Coefficients) -> Array:
        """Return the most likely cluster of every row, shape (B,)."""
        return self.posterior(values, coefficients, 1).K[:, 0]

    def gaps(self, values: Array, K: Array, coefficients: Coefficients) -> Array:
        """Return the nats every row loses by looking at the clusters in K alone."""
        lost = [
            gaps_of(_Leaf.of(part, coefficients).scores, K_part, coefficients)
            for part, K_part in zip(parts(values), parts(K))
        ]
        return np.concatenate(lost)

    def log_sums(self, relative: Array) -> Array:
        return reference.log_sums(relative)

    def distances(self, values: Array, means: Array) -> Array:
        """Return ||y - mu_c||^2 over what is observed of every row, shape (B, C)."""
        found = []
        for part in parts(values):
            columns = columns_of(part)
            found.append(canonical(columns, means, missing=np.isnan(columns)))
        return np.concatenate(found)

    def nearer(
        self, values: Array, means: Array, known: Array, nearest: Array, owner: Array
    ) -> tuple[Array, Array]:
        """Refuse: a row with missing values cannot be a mean."""
        raise ValueError(ONLY_COMPLETE)

    def near_clusters(
        self, coefficients: Coefficients, lists: Array | None, count: int
    ) -> tuple[Array, int]:
        """Return clusters near each; means have all their features."""
        return reference.near_clusters(coefficients, lists, count)

    def runs(self, plan: Plan, coefficients: Coefficients) -> bool:
        """Return whether there is a sweep for this plan and model."""
        return plan.near is None

    def draw_seeds(
        self, block: Block, line: Array, first: int, points: Array
    ) -> tuple[Array, int]:
        """Refuse: a row with missing values cannot be a mean."""
        raise ValueError(ONLY_COMPLETE)

    def fits_at_once(self, n_rows: int, C: int, D: int) -> int:
        """Return how many fits of this size get on better side by side."""
        return 1


@dataclass(frozen=True)
class _Leaf:
    """Rows, and how well all clusters explain what is observed of them.

    Attributes
    ----------
    columns : ndarray of shape (D, B)
    missing : ndarray of shape (D, B), bool
    distances : ndarray of shape (B, C)
        Squared distances over observed features.
    scores : ndarray of shape (B, C)
        The same, with a handicap: of clusters at the same distance, the one that would
        have been surest of the missing values has paid most for it in its bias. It is
        exactly zero where clusters are alike, so ties stay ties.
    spared : ndarray of shape (B, 1)
        The nats a row is spared because nothing has to be explained where it is
        missing, by the cluster that is spared most.
    """

    columns: Array
    missing: Array
    distances: Array
    scores: Array
    spared: Array

    @classmethod
    def of(cls, values: Array, coefficients: Coefficients) -> "_Leaf":
        columns = columns_of(values)
        missing = np.isnan(columns)
        whitening = _per_feature(coefficients)
        alike = np.ndim(coefficients.whitening) == 0
        distances = canonical(
            columns, coefficients.means, None if alike else whitening, missing
        )
        normaliser = 0.5 * LOG_2_PI - np.log(whitening)
        spared = np.zeros(distances.shape)
        for d, lacking in enumerate(missing):
            spared[lacking] += normaliser[:, d]
        most = spared.max(axis=1, keepdims=True)
        scores = distances + (most - spared) / coefficients.sharpness
        return cls(columns, missing, distances, scores, most)

    def truncated(self, K: Array, coefficients: Coefficients) -> Truncated:
        """Return clusters K of these rows, with log p(observed, c)."""
        distances, scores = (
            np.take_along_axis(of, K, axis=1) for of in (self.distances, self.scores)
        )
        highest, relative = coefficients.log_joint(scores, K)
        return Truncated(K, distances, highest + self.spared, relative)


def _accumulate(
    leaf: _Leaf,
    weights: Array,
    K_before: Array | None,
    truncated: Truncated,
    coefficients: Coefficients,
    expected: Array,
) -> Stats:
    """Add up weighted moments about the current means, missing ones as expected.

    Parameters
    ----------
    leaf : _Leaf
    weights : ndarray of shape (B,)
    K_before : ndarray of shape (B, C') or None
    truncated : Truncated
    coefficients : Coefficients
    expected : ndarray of shape (C, D)
        Variances of missing values.
    """
    K, means = truncated.K, coefficients.means
    q, entropies, free_energies = truncated.normalise()
    C, D = means.shape
    shares = weights[:, None] * q

    def sums(values: Array) -> Array:
        return np.bincount(K.ravel(), values.ravel(), minlength=C)

    shifts, scatter, absent = (np.empty((C, D)) for _ in range(3))
    for d in range(D):
        difference = leaf.columns[d][:, None] - means[K, d]
        difference[leaf.missing[d]] = 0.0
        shifts[:, d] = sums(shares * difference)
        scatter[:, d] = sums(shares * difference * difference)
        absent[:, d] = sums(shares * leaf.missing[d][:, None])
    scatter += absent * expected
    unknown = 0.5 * float(np.sum(absent * (LOG_2_PI + 1.0 + np.log(expected))))
    return Stats(
        counts=sums(shares),
        shifts=shifts,
        scatter=_folded(scatter, coefficients),
        quantization_error=weighted_sum(weights, truncated.distances[:, 0]),
        entropy=weighted_sum(weights, entropies) + unknown,
        free_energy=weighted_sum(weights, free_energies),
        weight=float(np.sum(weights)),
        evaluations=len(weights) * C,
        changed=n_changed(K_before, remembered(K, C), weights),
    )


def _per_feature(coefficients: Coefficients) -> Array:
    """Return the whitening of every cluster and feature, shape (C, D)."""
    whitening = np.asarray(coefficients.whitening)
    if whitening.ndim == 1:
        whitening = whitening[:, None]
    return np.broadcast_to(whitening, coefficients.means.shape)


def _folded(scatter: Array, coefficients: Coefficients) -> Any:
    """Return scatter of shape (C, D) in the shape of the whitening."""
    if np.ndim(coefficients.whitening) == 0:
        return float(np.sum(scatter))
    return scatter.sum(axis=1) if coefficients.whitening.ndim == 1 else scatter
