"""The E-step in numpy: the specification every other kernel is tested against.

A sweep evaluates the clusters of every row, selects which to keep, normalises the
posterior over them and accumulates statistics. `posterior` is the first half alone.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from cprime.blocks import LEAF_ROWS, Block, Kept
from cprime.draws import drawn
from cprime.kernels.neighbourhood import lists_among, looked_at
from cprime.kernels.row_sums import first_moments, n_changed, remembered
from cprime.kernels.whitening import canonical, columns_of, shape_of
from cprime.search import Plan
from cprime.stats import Stats, weighted_sum
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.truncation import Truncated, closest, closest_reluctantly, gaps_of
from cprime.typing import Array

# Trial seeds whose losses differ by no more than this share are equally good.
SAME_LOSS = 1e-12


def prepare(block: Block) -> Block:
    """Return the block as this kernel sweeps it many times: as it is."""
    return block


def sweep(
    block: Block,
    kept: Kept | None,
    coefficients: Coefficients,
    plan: Plan,
    C_prime: int,
) -> tuple[Kept, LeafSum]:
    """Update the clusters of every row and add up statistics, leaf by leaf."""

    def one(
        values: Array, weights: Array, K: Array | None, first: int
    ) -> tuple[Array, Stats]:
        return sweep_leaf(values, weights, K, coefficients, plan, C_prime, first)

    return leaf_by_leaf(block, kept, one)


def leaf_by_leaf(
    block: Block,
    kept: Kept | None,
    sweep_one: Callable[[Array, Array, Array | None, int], tuple[Array, Stats]],
) -> tuple[Kept, LeafSum]:
    """Sweep every leaf with a function of its values, weights, K and first row."""
    K_new, leaves = [], []
    for i, rows in enumerate(block.slices()):
        K = None if kept is None else kept.K[rows]
        first = block.first + rows.start
        K_leaf, stats = sweep_one(block.dense(rows), block.weights[rows], K, first)
        K_new.append(K_leaf)
        leaves.append(LeafSum.of_leaf(i, stats))
    return Kept(np.concatenate(K_new)), reduce(add, leaves)


def sweep_leaf(
    values: Array,
    weights: Array,
    K: Array | None,
    coefficients: Coefficients,
    plan: Plan,
    C_prime: int,
    first: int = 0,
) -> tuple[Array, Stats]:
    """Update the clusters of the rows of one leaf and add up its statistics.

    Parameters
    ----------
    values : ndarray of shape (B, D)
    weights : ndarray of shape (B,), float64
    K : ndarray of shape (B, C') or None
        The clusters each row keeps now; None before the first sweep. If there are fewer
        than C', all change.
    coefficients : Coefficients
    plan : Plan
    C_prime : int
    first : int
        Number of the first row.

    Returns
    -------
    K : ndarray of shape (B, C'), int32
        The clusters each row keeps from now on. With C' = C there is nothing to
        remember and the shape is (B, 0).
    stats : Stats
    """
    columns = columns_of(values)
    distances = evaluate(columns, coefficients)
    seen = None
    if plan.near is not None and K is not None and K.shape[1] > 0:
        seen = looked_at(K, plan.near, first)
    chosen = select(distances, K, coefficients, plan, C_prime, seen)
    truncated = Truncated.of(distances, chosen, coefficients)
    stats = accumulate(columns, weights, K, truncated, coefficients)
    if seen is not None:
        stats = replace(stats, evaluations=int(np.count_nonzero(seen)))
    return remembered(chosen, len(coefficients.means)), stats


def posterior(values: Array, coefficients: Coefficients, C_prime: int) -> Truncated:
    """Return the C' closest clusters of every row and their log-joints."""

    def of_part(part: Array) -> Truncated:
        found = evaluate(columns_of(part), coefficients)
        K = select(found, None, coefficients, Plan(), C_prime)
        return Truncated.of(found, K, coefficients)

    return Truncated.concatenated([of_part(part) for part in parts(values)])


def log_sums(relative: Array) -> Array:
    """Return log sum exp of every row of values that are at most 0, shape (B,)."""
    found: Array = np.log(np.exp(relative).sum(axis=1))
    return found


def distances(values: Array, means: Array) -> Array:
    """Return ||y - mu_c||^2 for every row and every mean, shape (B, C)."""
    return np.concatenate(
        [canonical(columns_of(part), means) for part in parts(values)]
    )


def nearest(values: Array, coefficients: Coefficients) -> Array:
    """Return the closest cluster of every row, shape (B,)."""
    return posterior(values, coefficients, 1).K[:, 0]


def nearer(
    values: Array, means: Array, known: Array, nearest: Array, owner: Array
) -> tuple[Array, Array]:
    """Return distances to the nearest mean, and which that is, of more means."""
    found, new = np.empty(len(values)), np.empty(len(values), dtype=np.int32)
    for start in range(0, len(values), LEAF_ROWS):
        some = slice(start, start + LEAF_ROWS)
        of_some = distances(values[some], means)
        found[some], new[some] = of_some.min(axis=1), of_some.argmin(axis=1)
    is_nearer = found < nearest
    return np.where(is_nearer, found, nearest), np.where(
        is_nearer, new + len(known), owner
    )


def gaps(values: Array, K: Array, coefficients: Coefficients) -> Array:
    """Return the nats every row loses by looking at the clusters in K alone."""
    lost = [
        gaps_of(
            evaluate(columns_of(values[i : i + LEAF_ROWS]), coefficients),
            K[i : i + LEAF_ROWS],
            coefficients,
        )
        for i in range(0, len(values), LEAF_ROWS)
    ]
    return np.concatenate(lost)


def near_clusters(
    coefficients: Coefficients, lists: Array | None, count: int
) -> tuple[Array, int]:
    """Return for every cluster those as whose row its mean would fit best."""
    means = coefficients.means
    if lists is None:
        return posterior(means, coefficients, count).K, len(means) ** 2
    scores = evaluate(columns_of(means), coefficients) + coefficients.penalty()
    return lists_among(scores, lists, count)


def runs(plan: Plan, coefficients: Coefficients) -> bool:
    """Return whether there is a sweep for this plan and model."""
    return True


def draw_seeds(
    block: Block, line: Array, first: int, points: Array
) -> tuple[Array, int]:
    """Choose seeds by D^2 sampling; return their rows, and distances computed."""
    weights = block.weights[line]

    def along_the_line(rows: list[int]) -> Array:
        means = block.dense(rows).astype(np.float64)
        parts = [distances(block.dense(part), means) for part in block.slices()]
        return np.concatenate(parts)[line]

    chosen = [int(line[first])]
    nearest = along_the_line(chosen)[:, 0]
    evaluations = len(line)
    for of_seed in points:
        masses = weights * nearest
        if not masses.any():
            # Every weighted row is a seed already: the rest can only repeat them.
            masses = weights
        trials = line[drawn(masses, of_seed)].tolist()
        closest_then = np.minimum(along_the_line(trials), nearest[:, None])
        losses = (weights[:, None] * closest_then).sum(axis=0)
        # The first of the best to within rounding: the order of rows has no say.
        best = int(np.argmax(losses <= losses.min() * (1.0 + SAME_LOSS)))
        chosen.append(trials[best])
        nearest = closest_then[:, best]
        evaluations += closest_then.size
    return np.array(chosen), evaluations


def fits_at_once(n_rows: int, C: int, D: int) -> int:
    """Return how many fits of this size get on better side by side."""
    return 1


def evaluate(columns: Array, coefficients: Coefficients) -> Array:
    """Return squared distances by which clusters are ranked, shape (B, C)."""
    return shape_of(coefficients.whitening).distances(columns, coefficients)


def select(
    distances: Array,
    K: Array | None,
    coefficients: Coefficients,
    plan: Plan,
    C_prime: int,
    seen: Array | None = None,
) -> Array:
    """Return the clusters every row keeps, best first (Cor. 1, or lazy-k-means).

    Of those that were `seen`, shape (B, C).
    """
    scores = distances + coefficients.penalty()
    if seen is not None:
        scores[~seen] = np.inf
    if K is None or plan.reluctance == 1.0 or K.shape[1] not in (1, C_prime):
        return closest(scores, C_prime)
    return closest_reluctantly(scores, K, plan.reluctance, C_prime)


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
    C = len(coefficients.means)
    shares = weights[:, None] * q
    counts, shifts = first_moments(columns, K, shares, coefficients.means)
    return Stats(
        counts=counts,
        shifts=shifts,
        scatter=shape_of(coefficients.whitening).scatter(
            columns, shares, truncated, coefficients
        ),
        quantization_error=weighted_sum(weights, truncated.distances[:, 0]),
        entropy=weighted_sum(weights, entropies),
        free_energy=weighted_sum(weights, free_energies),
        weight=float(np.sum(weights)),
        evaluations=len(weights) * C,
        changed=n_changed(K_before, remembered(K, C), weights),
    )


def parts(array: Array) -> list[Array]:
    """Return the rows a leaf at a time, to bound the memory of what follows."""
    return [array[i : i + LEAF_ROWS] for i in range(0, len(array), LEAF_ROWS)]
