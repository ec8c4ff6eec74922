"""Rows of one array in memory, dense or CSR, or of a tensor on a GPU."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from cprime.blocks import (
    LEAF_ROWS,
    Block,
    Kept,
    Resident,
    few_here,
    unit_weights,
)
from cprime.kernels import Kernel
from cprime.rows.base import Part, Rows, restored_parts
from cprime.search import Plan
from cprime.storage.container import Stored
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.typing import Array

# Rows are handed out in parts of about this many values: enough for a kernel to share
# among threads, and little beside the memory of a laptop when rows have to be copied.
COPIED_VALUES = 2**22
# Rows that need no copy come in parts so large that a kernel's start is nothing.
MAPPED_VALUES = 2**25


class MemoryRows(Rows):
    """An array in memory, or on a GPU, seen as weighted rows in leaf blocks.

    Parameters
    ----------
    X : ndarray, CSR matrix or Elsewhere, of shape (N, D)
        Kept as given. CSR rows are made dense one block at a time.
    weights : ndarray of shape (N,), optional
        By default every row weighs 1.
    scale : float, default=1.0
        A power of two every value is multiplied by, block by block, to keep squares of
        very large or very small numbers inside float64.
    first : int, default=0
        Number of the first row, if these are part of others: the first of a leaf.
    """

    def __init__(
        self,
        X: Any,
        weights: Array | None = None,
        scale: float = 1.0,
        first: int = 0,
    ):
        if weights is None:
            weights = unit_weights(X.shape[0])
        self.weights = weights
        self._block = Block(X, weights, scale, first)
        self._prepared: tuple[Kernel, Any] | None = None

    @classmethod
    def of(cls, block: Block) -> "MemoryRows":
        """Return the rows of a block."""
        return cls(block.X, block.weights, block.scale, block.first)

    @property
    def block(self) -> Block:
        return self._block

    @property
    def resident(self) -> Resident | None:
        prepared = None if self._prepared is None else self._prepared[1]
        return None if isinstance(prepared, Block) else prepared

    @property
    def origin(self) -> str:
        return "memory"

    @property
    def n_rows(self) -> int:
        return self.block.n_rows

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def X(self) -> Any:
        return self.block.X

    def extremes(self) -> tuple[Array, Array]:
        return self._extremes

    @cached_property
    def _extremes(self) -> tuple[Array, Array]:
        resident = self.resident
        return super().extremes() if resident is None else resident.extremes()

    def take(self, indices: Array) -> Array:
        return few_here(self.block.dense(indices)).astype(np.float64)

    def subset(self, indices: Array) -> "MemoryRows":
        return MemoryRows.of(self.block.part(indices))

    def restored(self, stored: Stored, C: int) -> Kept:
        return Kept(np.concatenate(list(restored_parts(stored, self.n_rows, C))))

    def assigned(self, function: Callable[..., Array], *columns: Array) -> Kept:
        return Kept(function(*columns)[:, None])

    def parts(self, per_row: tuple[Array, ...]) -> Iterator[Part]:
        at_once = MAPPED_VALUES if self.block.is_ready else COPIED_VALUES
        n_leaves = max(1, at_once // (LEAF_ROWS * self.n_features))
        for rows in self.block.slices(n_leaves * LEAF_ROWS):
            arrays = (array[rows] for array in (self.weights, *per_row))
            first = self.block.first + rows.start
            yield Part(first, (self.block.dense(rows), *arrays))

    def swept(
        self,
        kernel: Kernel,
        K: Any,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[Any, LeafSum]:
        prepared = self.prepare(kernel)
        return kernel.sweep(prepared, K, coefficients, plan, C_prime)

    def prepare(self, kernel: Kernel) -> Any:
        """Return the block as this kernel sweeps it, from now on the same one."""
        if self._prepared is None or self._prepared[0] is not kernel:
            self._prepared = kernel, kernel.prepare(self.block)
        return self._prepared[1]
