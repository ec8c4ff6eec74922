"""What happens to a block of rows on the worker that holds it?

Pure functions of a block, its weights and what they are told: nothing here knows that
there is a cluster.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from cprime.blas import one_thread
from cprime.blocks import LEAF_ROWS, Block, Kept, unit_weights
from cprime.kernels import Kernel
from cprime.rows.memory import MemoryRows
from cprime.search import Plan
from cprime.sources.held import HeldBlock
from cprime.sources.leaf_runs import tree_nodes
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.typing import Array


@dataclass(frozen=True)
class Scaling:
    """Powers of two by which values and weights are multiplied."""

    values: float = 1.0
    weights: float = 1.0


@dataclass(frozen=True)
class Swept:
    """A sweep that gave all rows their clusters.

    Attributes
    ----------
    key : str
        By which a block remembers them.
    """

    key: str
    kernel: Kernel
    coefficients: Coefficients
    plan: Plan
    C_prime: int

    @property
    def needs_before(self) -> bool:
        """Whether clusters depend on those of the sweep before."""
        return self.plan.needs_before

    def sweep(self, block: Block, before: Kept | None) -> tuple[Kept, LeafSum]:
        return self.kernel.sweep(
            block, before, self.coefficients, self.plan, self.C_prime
        )


@dataclass(frozen=True)
class Moved:
    """Rows, by their numbers, that were moved to a cluster which was empty."""

    key: str
    rows: Array
    cluster: int


@dataclass(frozen=True)
class Given:
    """Clusters of the rows of one block that were known from before."""

    key: str
    K: Array


def given(key: str, function: Callable[..., Array], *per_row: Any) -> Given:
    """Return clusters of the rows of a block, one each, as a function gives them."""
    return Given(key, function(*map(chosen, per_row))[:, None])


# How the clusters of all rows came about, the last of it last.
Origin = Sequence[Swept | Moved | Given]


def block_of(held: HeldBlock, weights: Array | None, scaling: Scaling) -> Block:
    """Return the rows as a kernel is handed them."""
    if weights is None:
        weights = unit_weights(len(held.values))
    if scaling.weights != 1.0:
        weights = weights * scaling.weights
    return Block(held.values, weights, scaling.values, held.first)


@one_thread()
def sweep_block(
    held: HeldBlock,
    weights: Array | None,
    scaling: Scaling,
    sweep: Swept,
    before: Origin,
    changed: float,
) -> LeafSum:
    """Run one E-step over a block; remember its clusters, and return its sums.

    Parameters
    ----------
    held, weights, scaling
        The rows.
    sweep : Swept
        What is to be done.
    before : Origin
        Of the clusters the rows have; empty if they have none.
    changed : float
        As of `Kept`.
    """
    block = block_of(held, weights, scaling)
    clusters = _clusters(held, block, before) if before else None
    kept, sums = [], []
    for i, node in enumerate(_nodes(held)):
        of_node = None if clusters is None else replace(clusters[i], changed=changed)
        after, found = sweep.sweep(block.part(node), of_node)
        kept.append(after)
        sums.append(found.shifted((held.first + node.start) // LEAF_ROWS))
    held.remember(sweep.key, kept)
    # What is done to the sum of all goes with the first of them.
    total = reduce(add, sums)
    return total if held.first == 0 else replace(total, settle=None)


@one_thread()
def clusters_of_block(
    held: HeldBlock, weights: Array | None, scaling: Scaling, origin: Origin
) -> Array:
    """Return the clusters that the rows keep, shape (B, any)."""
    kept = _clusters(held, block_of(held, weights, scaling), origin)
    return np.concatenate([of_node.K for of_node in kept])


def _clusters(held: HeldBlock, block: Block, origin: Origin) -> list[Kept]:
    """Return what the rows keep, node by node, as remembered or found out again."""
    *earlier, last = origin
    kept: list[Kept] | None = held.recall(last.key)
    if kept is not None:
        return kept
    nodes = list(_nodes(held))
    if isinstance(last, Given):
        kept = [Kept(last.K[node]) for node in nodes]
    elif isinstance(last, Moved):
        kept = [
            _moved(of_node, held.first + node.start, last)
            for node, of_node in zip(nodes, _clusters(held, block, earlier))
        ]
    else:
        before: list[Kept] | list[None] = [None] * len(nodes)
        if last.needs_before and earlier:
            before = _clusters(held, block, earlier)
        kept = [last.sweep(block.part(n), b)[0] for n, b in zip(nodes, before)]
    held.remember(last.key, kept)
    return kept


def _moved(kept: Kept, first: int, moved: Moved) -> Kept:
    inside = (moved.rows >= first) & (moved.rows < first + len(kept.K))
    if not inside.any():
        return kept
    return kept.reassigned(moved.rows[inside] - first, moved.cluster)


def _nodes(held: HeldBlock) -> list[slice]:
    return list(tree_nodes(slice(held.first, held.first + len(held.values))))


@one_thread()
def ask_block(
    held: HeldBlock,
    weights: Array | None,
    scaling: Scaling,
    method: str,
    function: Callable[..., Any],
    *per_row: Any,
) -> Any:
    """Return what a method of `Rows` makes of a function and the rows of a block.

    Parameters
    ----------
    held, weights, scaling
        The rows.
    method : str
    function : callable
    per_row : ndarray, or several with the place of one
        Numbers of every row.
    """
    rows = MemoryRows.of(block_of(held, weights, scaling))
    return getattr(rows, method)(function, *map(chosen, per_row))


def chosen(of: Any) -> Array:
    """Return numbers of every row, which may be one of several kinds."""
    if isinstance(of, tuple | list):
        several, place = of
        column: Array = several[place]
        return column
    array: Array = of
    return array


def slice_of(
    length: int,
    weights: Array | None,
    scale: float,
    start: int,
    stop: int,
    *per_row: Any,
) -> tuple[Array, ...]:
    """Return weights and other numbers of some rows of a block."""
    if weights is None:
        weights = unit_weights(length)
    elif scale != 1.0:
        weights = weights * scale
    return tuple(of[start:stop] for of in (weights, *map(chosen, per_row)))


def of_slice(function: Callable[..., Any], *pieces: tuple[Array, ...]) -> Any:
    """Return a function of numbers of consecutive rows, put together from pieces."""
    columns = (
        column[0] if len(column) == 1 else np.concatenate(column)
        for column in zip(*pieces)
    )
    return function(*columns)


def leaf_of_slice(
    index: int, function: Callable[..., Any], *pieces: tuple[Array, ...]
) -> LeafSum:
    """Return the same as the leaf of a sum over all slices."""
    return LeafSum.of_leaf(index, of_slice(function, *pieces))


def weight(values: Array, weights: Array) -> Any:
    """Return the weight of all rows together."""
    return np.sum(weights)


def together(*values: Any) -> tuple[Any, ...]:
    """Return several results as one."""
    return values


def kinds(result: Any) -> int | None:
    """Return how many arrays came out, unless it is just one."""
    return len(result) if isinstance(result, tuple) else None
