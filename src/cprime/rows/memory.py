"""Rows of one array in memory, dense or CSR."""

from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from cprime.kernels import Kernel
from cprime.search import Plan
from cprime.stats import Stats
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.typing import Array

# Sums are formed over leaves of this many rows. It is part of the result's last bits,
# and bounds a sweep's memory at this many rows times C.
LEAF_ROWS = 2048


class MemoryRows:
    """An array in memory, seen as weighted rows in leaf blocks.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (N, D)
        Kept as given. CSR rows are made dense one block at a time.
    weights : ndarray of shape (N,), optional
        By default every row weighs 1.
    scale : float, default=1.0
        A power of two every value is multiplied by, block by block, to keep squares of
        very large or very small numbers inside float64.
    """

    def __init__(self, X: Any, weights: Array | None = None, scale: float = 1.0):
        self.X = X
        self.weights = np.ones(X.shape[0]) if weights is None else weights
        self.scale = scale

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def take(self, indices: Array) -> Array:
        return self._dense(indices).astype(np.float64)

    def subset(self, indices: Array, K: Array) -> tuple["MemoryRows", Array]:
        part = MemoryRows(self.X[indices], self.weights[indices], self.scale)
        return part, K[indices]

    def labels(self, K: Array) -> Array | None:
        return K[:, 0].copy() if K.shape[1] > 0 else None

    def reassign(self, K: Array, indices: Array, cluster: int) -> Array:
        K = K.copy()
        K[indices] = cluster
        return K

    def map(self, function: Callable[..., Any], K: Array | None = None) -> Any:
        parts = [function(*block) for block in self._blocks(K)]
        if isinstance(parts[0], tuple):
            return tuple(np.concatenate(column) for column in zip(*parts))
        return np.concatenate(parts)

    def reduce(self, function: Callable[..., Any], K: Array | None = None) -> Any:
        leaves = (
            LeafSum.of_leaf(i, function(*block))
            for i, block in enumerate(self._blocks(K))
        )
        return reduce(add, leaves).total()

    def sweep(
        self,
        kernel: Kernel,
        K: Array | None,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[Array, Stats]:
        kept: list[Array] = []

        def sweep_block(
            values: Array, weights: Array, K_block: Array | None = None
        ) -> Stats:
            K_new, stats = kernel.sweep(
                values, weights, K_block, coefficients, plan, C_prime
            )
            kept.append(K_new)
            return stats

        stats = self.reduce(sweep_block, K)
        return np.concatenate(kept), stats

    def _blocks(self, K: Array | None) -> Iterator[tuple[Array, ...]]:
        for start in range(0, self.n_rows, LEAF_ROWS):
            rows = slice(start, start + LEAF_ROWS)
            block = self._dense(rows), self.weights[rows]
            yield block if K is None else (*block, K[rows])

    def _dense(self, rows: Any) -> Array:
        part = self.X[rows]
        values: Array = part.toarray() if hasattr(part, "toarray") else part
        return values if self.scale == 1.0 else values * self.scale
