"""The E-step in C++: the reference's results, at the machine's speed.

Float32 scores and a bound on their errors narrow the search to a few candidates; those,
and everything reported, are computed in float64 by the canonical formula. Sums are
formed leaf by leaf in the order of `LeafSum`: the number of threads changes no bit.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from cprime.blocks import LEAF_ROWS, Block, Kept
from cprime.kernels import _native, reference, threads, tied
from cprime.kernels._native import (
    fma_peak,
    get_num_threads,
    isa_name,
    isa_names,
    set_num_threads,
    use_isa,
)
from cprime.kernels.hints import HintsOfSweep, hint_store, hints_pay
from cprime.kernels.layout import (
    clusters_before,
    near_for_compiled_code,
    readable,
    rows_of,
)
from cprime.search import Plan
from cprime.stats import Stats
from cprime.summation import LeafSum, Node
from cprime.theta import Coefficients
from cprime.truncation import Truncated
from cprime.typing import Array

__all__ = [
    "as_rows",
    "distances",
    "draw_seeds",
    "fits_at_once",
    "fma_peak",
    "gaps",
    "get_num_threads",
    "isa_name",
    "isa_names",
    "log_sums",
    "magnitude",
    "near_clusters",
    "nearer",
    "nearest",
    "posterior",
    "prepare",
    "readable",
    "runs",
    "runs_unwatched",
    "set_num_threads",
    "sweep",
    "use_isa",
]


threads.adopt_environment()


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
    if coefficients.is_tied:
        return tied.sweep(
            sweep, reference.sweep, block, kept, coefficients, plan, C_prime
        )
    C, D = coefficients.means.shape
    width = 0 if C_prime == C else C_prime
    store, known = None, False
    before = clusters_before(kept, width, plan)
    near = plan.near if before is not None and width > 0 else None
    K = np.empty((block.n_rows, width), dtype=np.int32)
    pays = near is None and hints_pay(C, D, C_prime) and _are_round(coefficients)
    if kept is not None and pays:
        store, known = hint_store(kept, C, plan)
    nodes = _native.sweep(
        rows=rows_of(block.X, block.scale),
        weights=block.weights,
        coefficients=_coefficients(coefficients),
        reluctance=plan.reluctance,
        C_prime=C_prime,
        leaf_rows=LEAF_ROWS,
        before=before,
        after=K,
        hints=store,
        use_hints=known,
        near=None if near is None else near_for_compiled_code(near, block.first),
    )
    sums = LeafSum(
        tuple(Node(start, level, Stats(*of)) for start, level, *of in nodes),
        partial(_unwhitened, coefficients=coefficients),
    )
    hints = None
    if plan.keep_hints and store is not None:
        hints = HintsOfSweep(store, store.serial)
    changed = sum(node.value.changed for node in sums.nodes)
    return Kept(K, hints, changed / max(1, block.n_rows)), sums


def posterior(values: Array, coefficients: Coefficients, C_prime: int) -> Truncated:
    """Return the C' closest clusters of every row and their log-joints."""
    values, coefficients = _round_if_tied(values, coefficients)
    K = np.empty((len(values), C_prime), dtype=np.int32)
    found = np.empty((len(values), C_prime))
    _native.closest(rows_of(values), _coefficients(coefficients), C_prime, K, found)
    return Truncated(K, found, *coefficients.log_joint(found, K))


def nearest(values: Array, coefficients: Coefficients) -> Array:
    """Return the closest cluster of every row, shape (B,)."""
    values, coefficients = _round_if_tied(values, coefficients)
    K = np.empty(len(values), dtype=np.int32)
    _native.closest(rows_of(values), _coefficients(coefficients), 1, K, None)
    return K


def gaps(values: Array, K: Array, coefficients: Coefficients) -> Array:
    """Return the nats every row loses by looking at the clusters in K alone."""
    values, coefficients = _round_if_tied(values, coefficients)
    lost = np.empty(len(values))
    K = np.ascontiguousarray(K, dtype=np.int32)
    _native.gaps(rows_of(values), _coefficients(coefficients), K, lost)
    return lost


def log_sums(relative: Array) -> Array:
    """Return log sum exp of every row of values that are at most 0, shape (B,)."""
    found = np.empty(len(relative))
    _native.log_sums(np.ascontiguousarray(relative), found)
    return found


def distances(values: Array, means: Array) -> Array:
    """Return ||y - mu_c||^2 for every row and every mean, shape (B, C)."""
    found = np.empty((len(values), len(means)))
    _native.distances(rows_of(values), np.ascontiguousarray(means, dtype=float), found)
    return found


def nearer(
    values: Array, means: Array, known: Array, nearest: Array, owner: Array
) -> tuple[Array, Array]:
    """Return distances to the nearest mean, and which that is, of more means.

    Only those near a row's nearest of before may be nearer to it, and scores tell most
    rows that none is: no distance is computed.
    """
    nearest, owner = nearest.copy(), owner.astype(np.int32)
    means, known = (np.ascontiguousarray(of, dtype=float) for of in (means, known))
    _native.nearer(rows_of(values), means, known, nearest, owner)
    return nearest, owner


def near_clusters(
    coefficients: Coefficients, lists: Array | None, count: int
) -> tuple[Array, int]:
    """Return for every cluster those as whose row its mean would fit best."""
    means, coefficients = _round_if_tied(coefficients.means, coefficients)
    C = len(means)
    if lists is None:
        return posterior(means, coefficients, count).K, C * C
    found = np.empty((C, count), dtype=np.int32)
    lists = np.ascontiguousarray(lists, dtype=np.int32)
    evaluations = _native.near_clusters(_coefficients(coefficients), lists, found)
    return found, evaluations


def runs(plan: Plan, coefficients: Coefficients) -> bool:
    """Return whether there is a sweep for this plan and model: for all."""
    return True


def draw_seeds(
    block: Block, line: Array, first: int, points: Array
) -> tuple[Array, int]:
    """Choose seeds by D^2 sampling; return their rows, and distances computed.

    A trial at least twice as far from a row's seed as the row is cannot be nearer to
    the row, so most rows are soon not looked at any more; scores narrow down the rest.
    """
    chosen = np.empty(len(points) + 1, dtype=np.int64)
    rows = rows_of(block.X, block.scale)
    weights, points = block.weights, np.ascontiguousarray(points)
    evaluations = _native.draw_seeds(rows, line, weights, first, points, chosen)
    return chosen, evaluations


def fits_at_once(n_rows: int, C: int, D: int) -> int:
    """Return how many fits of this size get on better side by side.

    Sweeps and seedings too brief for threads of their own leave them to others.
    """
    return get_num_threads() if _native.is_brief(n_rows, C, D) else 1


def runs_unwatched(n_rows: int, C: int, D: int) -> bool:
    """Return whether fits of this size gain from running whole in compiled code.

    Where sweeps take long, or remember bounds, a trip through Python is nothing.
    """
    return C > 1 and not hints_pay(C, D, 1) and _native.is_brief(n_rows, C, D)


def as_rows(block: Block) -> Any:
    """Return the rows of a block as compiled code reads them."""
    return rows_of(block.X, block.scale)


def magnitude(values: Array) -> float:
    """Return the largest absolute value; inf or nan if there is one."""
    return _native.magnitude(np.ascontiguousarray(readable(values)))


def _round_if_tied(
    values: Array, coefficients: Coefficients
) -> tuple[Array, Coefficients]:
    """Return whitened rows and round clusters in place of those of one triangle."""
    if not coefficients.is_tied:
        return values, coefficients
    whitened = tied.Whitened.of(coefficients)
    return whitened.rows(values), whitened.coefficients


def _coefficients(coefficients: Coefficients) -> _native.Coefficients:
    """Return a model's numbers as compiled code reads them."""
    return _native.Coefficients(
        means=np.ascontiguousarray(coefficients.means),
        penalty=_penalty(coefficients),
        whitening=_whitening(coefficients),
        sharpness=coefficients.sharpness,
        highest_bias=float(coefficients.bias.max()),
    )


def _penalty(coefficients: Coefficients) -> Array | None:
    """Return the clusters' handicaps, or None if they have none."""
    if (coefficients.bias == coefficients.bias[0]).all():
        return None
    return coefficients.penalty()


def _are_round(coefficients: Coefficients) -> bool:
    """Return whether the closest cluster of a row is its best."""
    return np.ndim(coefficients.whitening) == 0 and _penalty(coefficients) is None


def _whitening(coefficients: Coefficients) -> Array | None:
    """Return whitenings of clusters, or None if they are all the same."""
    whitening = coefficients.whitening
    return np.ascontiguousarray(whitening) if np.ndim(whitening) > 0 else None


def _unwhitened(stats: Stats, coefficients: Coefficients) -> Stats:
    """Return statistics with the scatter of differences as they are."""
    if np.ndim(coefficients.whitening) != 1:
        return stats
    return replace(stats, scatter=stats.scatter / coefficients.whitening**2)
