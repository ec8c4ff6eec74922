"""One covariance matrix for all clusters: rows are whitened, and clusters are round."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add

import numpy as np

from cprime.blas import one_thread
from cprime.blocks import LEAF_ROWS, Block, Kept
from cprime.search import Plan
from cprime.stats import Stats
from cprime.summation import LeafSum, Node
from cprime.theta import Coefficients
from cprime.typing import Array

Sweep = Callable[[Block, Kept | None, Coefficients, Plan, int], tuple[Kept, LeafSum]]

# Leaves that are whitened together: a power of two, so that sums are those of the tree.
LEAVES_AT_ONCE = 32
# The scatter within clusters is what is left of that of all rows. Where less than this
# share of it is left in some direction, too many digits are lost.
TOO_LITTLE = 1e-6


@dataclass(frozen=True)
class Whitened:
    """Where rows and clusters lie once W is applied to their differences to an origin.

    Attributes
    ----------
    origin : ndarray of shape (D,)
        Among the means: near them nothing cancels.
    triangle : ndarray of shape (D, D)
        W.
    coefficients : Coefficients
        Of the same clusters, whose squared distances are as they are.
    """

    origin: Array
    triangle: Array
    coefficients: Coefficients

    @classmethod
    @one_thread()
    def of(cls, tied: Coefficients) -> "Whitened":
        origin, triangle = tied.means.mean(axis=0), tied.whitening[0]
        means = (tied.means - origin) @ triangle.T
        return cls(origin, triangle, replace(tied, means=means, whitening=1.0))

    @one_thread()
    def rows(self, values: Array) -> Array:
        """Return z = W (y - origin), a leaf at a time: products have the same bits."""
        found = np.empty(values.shape)
        for start in range(0, len(values), LEAF_ROWS):
            leaf = slice(start, start + LEAF_ROWS)
            np.matmul(values[leaf] - self.origin, self.triangle.T, out=found[leaf])
        return found

    @one_thread()
    def stats(self, of_round: Stats, moments: Array) -> Stats:
        """Return statistics in the units of the rows.

        Parameters
        ----------
        of_round : Stats
            Of the whitened rows.
        moments : ndarray of shape (D, D)
            sum w z z^T. Less that of the clusters, it is the scatter about them:
            sum_c q (z - m)(z - m)^T = z z^T - sum_c (q (z - m) m^T + m q (y - m)^T
            + q m m^T).
        """
        means = self.coefficients.means
        crossed = of_round.shifts.T @ means
        of_clusters = (of_round.counts[:, None] * means).T @ means
        scatter = moments - (crossed + crossed.T + of_clusters)
        unwhite = np.linalg.inv(self.triangle)
        return replace(
            of_round,
            shifts=of_round.shifts @ unwhite.T,
            scatter=(unwhite @ scatter @ unwhite.T)[None],
        )


@one_thread()
def sweep(
    round_sweep: Sweep,
    precise_sweep: Sweep,
    block: Block,
    kept: Kept | None,
    coefficients: Coefficients,
    plan: Plan,
    C_prime: int,
) -> tuple[Kept, LeafSum]:
    """Update the clusters of every row and add up statistics, leaf by leaf.

    No hints are kept: bounds on distances would have to hold for the next W, whose
    rounding of rows depends on its condition, and for biases that differ.

    Parameters
    ----------
    round_sweep : callable
        A kernel's sweep for clusters with one variance, which does the work.
    precise_sweep : callable
        One for a careful plan: clusters are so narrow, beside the space between them,
        that their scatter must not be found by subtraction.
    block, kept, coefficients, plan, C_prime
        As of every sweep.
    """
    if plan.careful:
        return precise_sweep(block, kept, coefficients, plan, C_prime)
    whitened = Whitened.of(coefficients)
    parts, runs, moments = [], [], []
    for i, rows in enumerate(block.slices(LEAVES_AT_ONCE * LEAF_ROWS)):
        Z, weights = whitened.rows(block.dense(rows)), block.weights[rows]
        before = None if kept is None else kept.part(rows)
        part, sums = round_sweep(
            Block(Z, weights, first=block.first + rows.start),
            before,
            whitened.coefficients,
            plan,
            C_prime,
        )
        first = i * LEAVES_AT_ONCE
        parts.append(part.K)
        runs.append(sums.shifted(first))
        with np.errstate(over="ignore", invalid="ignore"):
            moments += [
                LeafSum.of_leaf(first + j, (weights[leaf, None] * Z[leaf]).T @ Z[leaf])
                for j, leaf in enumerate(Block(Z, weights).slices())
            ]
    sums, products = reduce(add, runs), reduce(add, moments)
    nodes = tuple(
        Node(of.start, of.level, _Sums(of.value, product.value))
        for of, product in zip(sums.nodes, products.nodes, strict=True)
    )
    return Kept(np.concatenate(parts)), LeafSum(nodes, partial(_settled, whitened))


@dataclass(frozen=True)
class _Sums:
    """Statistics of whitened rows, and sum w z z^T."""

    of_round: Stats
    moments: Array

    def __add__(self, other: "_Sums") -> "_Sums":
        return _Sums(self.of_round + other.of_round, self.moments + other.moments)


@one_thread()
def _settled(whitened: Whitened, sums: _Sums) -> Stats | None:
    """Return statistics in the units of the rows, unless they were lost."""
    of_round, moments = sums.of_round, sums.moments
    if not np.isfinite(moments).all():
        return None
    left = replace(whitened, triangle=np.eye(len(moments))).stats(of_round, moments)
    narrowest = np.linalg.eigvalsh(left.scatter[0])[0]
    if narrowest < TOO_LITTLE * np.linalg.eigvalsh(moments)[-1]:
        return None
    return whitened.stats(of_round, moments)
