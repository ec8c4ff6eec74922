"""Rows that lie together in memory, as a kernel is handed them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cprime.typing import Array

# Sums are formed over leaves of this many rows: it is part of a result's last bits.
LEAF_ROWS = 2048


# One number, seen as many: weights that are all 1 take no memory.
_ONE = np.ones(1)
_ONE.flags.writeable = False


def unit_weights(n_rows: int) -> Array:
    """Return the weights of rows that all weigh 1, shape (B,), read-only."""
    return np.ndarray((n_rows,), np.float64, _ONE, strides=(0,))


class Elsewhere(ABC):
    """Finite values of rows that are on a GPU, where their owner wants them to stay.

    Kernels that run there compute with them. Nobody else gets them by accident:
    `numpy.asarray` of them is an error.

    Attributes
    ----------
    given : tensor
        As their owner has them.
    """

    given: Any

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]: ...

    @property
    @abstractmethod
    def dtype(self) -> Any:
        """What numpy calls the type of the values."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """The largest absolute value; inf or nan if there is one."""

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def __getitem__(self, rows: Any) -> "Elsewhere":
        """Return these rows alone, which stay there."""

    @abstractmethod
    def __mul__(self, factor: float) -> "Elsewhere":
        """Return all values times a number."""

    @abstractmethod
    def here(self) -> Array:
        """Return a copy in the memory of the host, of few rows."""

    @abstractmethod
    def beside(self, found: Array) -> Any:
        """Return what was found, as their owner gets it: where the rows are."""

    @abstractmethod
    def first(self, where: Callable[[Array], Array]) -> tuple[int, int, float, int]:
        """Return row, column and value of the first hit, and the number of hits."""

    def __array__(self, *args: Any, **options: Any) -> Array:
        raise TypeError(
            "X is on a GPU, and this is computed in the memory of the host: give a "
            "copy there, X.cpu().numpy()."
        )


def few_here(values: Any) -> Array:
    """Return the values of few rows in the memory of the host."""
    found: Array = values.here() if isinstance(values, Elsewhere) else values
    return found


def n_missing(values: Any) -> Array:
    """Return how many features every row lacks, shape (B,)."""
    if isinstance(values, Elsewhere):
        return np.zeros(len(values), dtype=np.intp)
    found: Array = np.count_nonzero(np.isnan(values), axis=1)
    return found


@dataclass(frozen=True)
class Block:
    """Consecutive weighted rows that begin at the start of a leaf.

    Attributes
    ----------
    X : ndarray, CSR matrix or Elsewhere, of shape (B, D)
        Kept as given.
    weights : ndarray of shape (B,), float64
    scale : float
        A power of two every value is multiplied by on the way to a kernel, to keep
        squares of very large or very small numbers inside float64.
    first : int
        Number of the first row among all of a fit.
    """

    X: Any
    weights: Array
    scale: float = 1.0
    first: int = 0

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def is_ready(self) -> bool:
        """Whether consecutive rows are what kernels compute with, as they lie."""
        return self.scale == 1.0 and not hasattr(self.X, "toarray")

    def slices(self, n_rows: int = LEAF_ROWS) -> Iterator[slice]:
        """Yield where every `n_rows` rows lie."""
        for start in range(0, self.n_rows, n_rows):
            yield slice(start, min(start + n_rows, self.n_rows))

    def dense(self, rows: Any) -> Array:
        """Return these rows as kernels take them: dense, and in computing units."""
        part = self.X[rows]
        values: Array = part.toarray() if hasattr(part, "toarray") else part
        return values if self.scale == 1.0 else values * self.scale

    def part(self, rows: Any) -> "Block":
        """Return a block of these rows alone."""
        # Rows picked from anywhere are no longer known by their numbers.
        first = self.first + (rows.start or 0) if isinstance(rows, slice) else 0
        return Block(self.X[rows], self.weights[rows], self.scale, first)

    def filled(self, values: Array) -> "Block":
        """Return a copy with these values, one per feature, where there is NaN."""
        X = np.where(np.isnan(self.X), values / self.scale, self.X)
        return Block(X.astype(self.X.dtype), self.weights, self.scale, self.first)


class Hints(Protocol):
    """What a kernel noted of a block to save itself work in the next sweep.

    It never changes a result, and a kernel may find it out of date and ignore it.
    """

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""


class Resident(Protocol):
    """A block that a kernel keeps elsewhere, as on a GPU, and what is done there.

    Sweeps apart: whatever looks at all rows again and again, so that they stay.
    """

    def extremes(self) -> tuple[Array, Array]:
        """Return the smallest and largest value of every feature, of weighted rows."""

    def line_up(self, direction: Array, middle: Array) -> Any:
        """Return the order of the rows along a direction, and which are copies."""

    def candidates(self, direction: Any, salt: int) -> Any:
        """Return the rows that may become seeds, in the order of these random keys."""

    def fits(self, seeds: Array) -> Any:
        """Return fits of k-means from several seeds, shape (R, C, D)."""


@dataclass(frozen=True)
class Kept:
    """The clusters every row of a block keeps.

    Attributes
    ----------
    K : ndarray of shape (B, C'), int32
        Best first. With C' = C there is nothing to remember and the shape is (B, 0).
    hints : Hints, optional
    changed : float
        Share of all rows, of which the block may be a part, that changed clusters in
        the sweep this comes from: while it is large, hints rarely pay.
    """

    K: Array
    hints: Hints | None = None
    changed: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return self.K.shape[0], self.K.shape[1]

    def parts(self) -> Iterator[Array]:
        """Yield the clusters of consecutive rows, from the first to the last."""
        yield self.K

    def array(self) -> Array:
        """Return the clusters of all rows."""
        return self.K

    def labels(self) -> Array | None:
        """Return each row's closest cluster, unless K does not hold it (C' = C)."""
        return self.K[:, 0].copy() if self.K.shape[1] > 0 else None

    def part(self, rows: Any) -> "Kept":
        """Return what these rows keep."""
        return Kept(self.K[rows])

    def reassigned(self, rows: Array, cluster: int) -> "Kept":
        """Return the same with these rows, of one cluster each, moved to `cluster`."""
        K = self.K.copy()
        K[rows] = cluster
        return Kept(K)


def concatenated(parts: list[Any]) -> Any:
    """Return results of consecutive parts as one: arrays, or tuples of arrays."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate(column) for column in zip(*parts))
    return np.concatenate(parts)
