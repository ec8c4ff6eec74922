"""The E-step for rows divided by a rule, on top of a kernel that finds the closest."""

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from cprime.blocks import LEAF_ROWS, Block, Kept
from cprime.kernels import Kernel, reference
from cprime.kernels.memberships import Rule
from cprime.kernels.row_sums import first_moments, n_changed, remembered
from cprime.search import Plan
from cprime.stats import Stats, weighted_sum
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.truncation import Truncated
from cprime.typing import Array

# Closest clusters are looked for in parts of about this many distances: enough for a
# kernel to share among threads, and little beside the memory of a laptop.
AT_ONCE = 2**22


@dataclass(frozen=True)
class FuzzyKernel:
    """Divides rows among their closest clusters, all at the same sharpness, by a rule.

    Attributes
    ----------
    exact : Kernel
        Finds the closest clusters, and everything else there is to ask.
    rule : Rule
    """

    exact: Kernel
    rule: Rule

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
        if C_prime == 1:
            # One cluster has the whole row, whatever the rule.
            return self.exact.sweep(block, kept, coefficients, plan, C_prime)
        C, D = coefficients.means.shape
        at_once = LEAF_ROWS * max(1, AT_ONCE // (LEAF_ROWS * max(C_prime, D)))
        K_new: list[Array] = []
        leaves: list[LeafSum] = []
        for rows in block.slices(at_once):
            part = Block(block.dense(rows), block.weights[rows])
            found, distances = self._closest(part.X, coefficients, C_prime)
            K = remembered(found, C)
            for leaf in part.slices():
                stats = self._accumulated(
                    part.part(leaf),
                    found[leaf],
                    distances[leaf],
                    coefficients.means,
                    n_changed(
                        None if kept is None else kept.K[rows][leaf],
                        K[leaf],
                        part.weights[leaf],
                    ),
                )
                leaves.append(LeafSum.of_leaf(len(leaves), stats))
            K_new.append(K)
        return Kept(np.concatenate(K_new)), reduce(add, leaves)

    def _closest(
        self, values: Array, coefficients: Coefficients, C_prime: int
    ) -> tuple[Array, Array]:
        """Return the clusters rows keep, and their squared distances."""
        C = len(coefficients.means)
        if C_prime < C:
            found = self.exact.posterior(values, coefficients, C_prime)
            return found.K, found.distances
        # All of them, in their own order: to rank them would take most of the time.
        distances = self.exact.distances(values, coefficients.means)
        return np.broadcast_to(np.arange(C, dtype=np.int32), distances.shape), distances

    def _accumulated(
        self, block: Block, K: Array, distances: Array, means: Array, changed: int
    ) -> Stats:
        """Add up the weighted moments of the rows of one leaf, about the means."""
        weights, C = block.weights, len(means)
        u = self.rule.memberships(distances)
        shares = weights[:, None] * self.rule.shares(u)
        columns = np.ascontiguousarray(block.X.T, dtype=np.float64)
        sums = _over_all_clusters if K.shape[1] == C else first_moments
        counts, shifts = sums(columns, K, shares, means)
        scatter = float(np.sum(shares * distances))
        entropy = weighted_sum(weights, self.rule.entropies(u))
        return Stats(
            counts=counts,
            shifts=shifts,
            scatter=scatter,
            quantization_error=weighted_sum(weights, distances.min(axis=1)),
            entropy=entropy,
            free_energy=entropy - scatter,
            weight=float(np.sum(weights)),
            evaluations=len(weights) * C,
            changed=changed,
        )

    def posterior(
        self, values: Array, coefficients: Coefficients, C_prime: int
    ) -> Truncated:
        return self.exact.posterior(values, coefficients, C_prime)

    def nearest(self, values: Array, coefficients: Coefficients) -> Array:
        return self.exact.nearest(values, coefficients)

    def gaps(self, values: Array, K: Array, coefficients: Coefficients) -> Array:
        return self.exact.gaps(values, K, coefficients)

    def log_sums(self, relative: Array) -> Array:
        return reference.log_sums(relative)

    def distances(self, values: Array, means: Array) -> Array:
        return self.exact.distances(values, means)

    def nearer(
        self, values: Array, means: Array, known: Array, nearest: Array, owner: Array
    ) -> tuple[Array, Array]:
        return self.exact.nearer(values, means, known, nearest, owner)

    def near_clusters(
        self, coefficients: Coefficients, lists: Array | None, count: int
    ) -> tuple[Array, int]:
        return self.exact.near_clusters(coefficients, lists, count)

    def runs(self, plan: Plan, coefficients: Coefficients) -> bool:
        return plan.near is None

    def draw_seeds(
        self, block: Block, line: Array, first: int, points: Array
    ) -> tuple[Array, int]:
        return self.exact.draw_seeds(block, line, first, points)

    def fits_at_once(self, n_rows: int, C: int, D: int) -> int:
        # Sums are numpy's, which lets one thread in at a time.
        return 1


def _over_all_clusters(
    columns: Array, K: Array, shares: Array, means: Array
) -> tuple[Array, Array]:
    """Return `first_moments` of rows that keep all clusters, in order: much faster."""
    # Not a matrix product: its last bits depend on how many threads there are.
    shifts = [
        np.einsum("nc,nc->c", shares, column[:, None] - means[:, d])
        for d, column in enumerate(columns)
    ]
    return shares.sum(axis=0), np.stack(shifts, axis=1)
