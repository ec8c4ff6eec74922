"""Where do the rows live?"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from cprime.kernels import Kernel
from cprime.rows.file import FileRows
from cprime.rows.memory import MemoryRows
from cprime.rows.parts import Part
from cprime.search import Plan
from cprime.sources import Data
from cprime.sources.sparse import compressed_rows, is_sparse
from cprime.stats import Stats
from cprime.storage.container import Blocks, Stored
from cprime.theta import Coefficients
from cprime.typing import Array

__all__ = ["FileRows", "MemoryRows", "Rows", "as_rows"]


class Rows(Protocol):
    """Rows and their weights, wherever they are kept.

    K, the clusters each row keeps, is handed out and taken back as a value of the
    rows' own choosing: callers never look inside.
    """

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    def take(self, indices: Array) -> Array:
        """Return these rows as a float64 array."""

    def subset(self, indices: Array, K: Any) -> tuple["Rows", Any]:
        """Return these rows and their part of K."""

    def labels(self, K: Any) -> Array | None:
        """Return each row's closest cluster, unless K does not hold it (C' = C)."""

    def reassign(self, K: Any, indices: Array, cluster: int) -> Any:
        """Return K with these rows, of one cluster each, moved to `cluster`."""

    def stored(self, K: Any) -> Blocks:
        """Return K as something that can be written to a file."""

    def restored(self, stored: Stored, C: int) -> Any:
        """Return the K of C clusters that was written, or say why it is none of ours.

        Without hints, which change no result.
        """

    def parts(self, per_row: tuple[Array, ...]) -> Iterator[Part]:
        """Yield all rows in their order, with the same part of arrays `per_row`."""

    def map(self, function: Callable[..., Any], *per_row: Array) -> Any:
        """Return function(values, weights, *per_row) of every part, in the rows' order.

        Arrays with an entry for every row come along in the same parts. A function that
        returns several arrays gives a tuple of them.
        """

    def reduce(self, function: Callable[..., Any], *per_row: Array) -> Any:
        """Return the sum of function(values, weights, *per_row) over all leaves."""

    def mean(self, function: Callable[..., Array], *per_row: Array) -> float:
        """Return the weighted mean of what function(values, weights, *per_row) gives.

        It returns a number for every row; those of no weight may be infinite.
        """

    def draw_seeds(
        self, kernel: Kernel, line: Array, first: int, points: Array
    ) -> tuple[Array, int]:
        """Choose rows as seeds, as `Kernel.draw_seeds` does."""

    def fits_at_once(self, kernel: Kernel, C: int) -> int:
        """Return how many fits of C clusters get on better side by side."""

    def sweep(
        self,
        kernel: Kernel,
        K: Any,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[Any, Stats]:
        """Run one E-step over all rows."""


def as_rows(X: Any, sample_weight: Array | None = None) -> Rows:
    """Return X as rows; rows pass through unchanged.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (N, D), Data, or Rows
    sample_weight : ndarray of shape (N,), optional
    """
    if hasattr(X, "sweep"):
        return X  # type: ignore[no-any-return]
    if isinstance(X, Data):
        return FileRows(X, sample_weight)
    return MemoryRows(compressed_rows(X) if is_sparse(X) else X, sample_weight)
