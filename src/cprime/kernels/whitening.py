"""Distances and scatter in numpy, for whitenings of every shape.

`columns` are rows feature by feature, shape (D, B), in float64.
"""

from typing import Any, Protocol

import numpy as np

from cprime.blas import one_thread
from cprime.theta import Coefficients
from cprime.truncation import Truncated
from cprime.typing import Array

# Squares of differences are summed in this many lanes.
LANES = 8


class Shape(Protocol):
    """What depends on the shape of a whitening."""

    def distances(self, columns: Array, coefficients: Coefficients) -> Array:
        """Return ||W_c (y - mu_c)||^2 of every row and cluster, shape (B, C).

        One number that whitens all clusters alike is left out.
        """

    def scatter(
        self,
        columns: Array,
        shares: Array,
        truncated: Truncated,
        coefficients: Coefficients,
    ) -> Any:
        """Return sums of weighted squares of differences y - mu_c.

        Parameters
        ----------
        columns : ndarray of shape (D, B)
        shares : ndarray of shape (B, C')
            The rows' weights, divided among the clusters they keep.
        truncated : Truncated
        coefficients : Coefficients
        """


def shape_of(whitening: Any) -> Shape:
    """Return what knows about whitenings of this shape."""
    return SHAPES[np.ndim(whitening)]


class OneNumber:
    """The same variance everywhere."""

    def distances(self, columns: Array, coefficients: Coefficients) -> Array:
        return canonical(columns, coefficients.means)

    def scatter(
        self,
        columns: Array,
        shares: Array,
        truncated: Truncated,
        coefficients: Coefficients,
    ) -> Any:
        return float(np.sum(shares * truncated.distances))


class NumberPerCluster:
    """A whitening of shape (C,)."""

    def distances(self, columns: Array, coefficients: Coefficients) -> Array:
        squared: Array = coefficients.whitening**2
        return canonical(columns, coefficients.means) * squared

    def scatter(
        self,
        columns: Array,
        shares: Array,
        truncated: Truncated,
        coefficients: Coefficients,
    ) -> Any:
        whitened = _sums(shares * truncated.distances, truncated.K, coefficients)
        return whitened / coefficients.whitening**2


class NumberPerFeature:
    """A whitening of shape (C, D)."""

    def distances(self, columns: Array, coefficients: Coefficients) -> Array:
        return canonical(columns, coefficients.means, coefficients.whitening)

    def scatter(
        self,
        columns: Array,
        shares: Array,
        truncated: Truncated,
        coefficients: Coefficients,
    ) -> Any:
        K, means = truncated.K, coefficients.means
        sums = [
            _sums(shares * (column[:, None] - means[K, d]) ** 2, K, coefficients)
            for d, column in enumerate(columns)
        ]
        return np.stack(sums, axis=1)


class Triangles:
    """A whitening of shape (C, D, D), or (1, D, D) for all clusters."""

    @one_thread()
    def distances(self, columns: Array, coefficients: Coefficients) -> Array:
        means, whitening = coefficients.means, coefficients.whitening
        if len(whitening) == 1:
            # Near the means nothing cancels, wherever the origin is.
            origin = means.mean(axis=0)
            rows = whitening[0] @ (columns - origin[:, None])
            return canonical(rows, (means - origin) @ whitening[0].T)
        whitened = (W @ (columns - mean[:, None]) for W, mean in zip(whitening, means))
        return np.stack([np.sum(z * z, axis=0) for z in whitened], axis=1)

    @one_thread()
    def scatter(
        self,
        columns: Array,
        shares: Array,
        truncated: Truncated,
        coefficients: Coefficients,
    ) -> Any:
        means = coefficients.means
        of_clusters = np.empty((*means.shape, len(columns)))
        for c, mean in enumerate(means):
            rows, slots = np.nonzero(np.equal(truncated.K, c))
            differences = columns[:, rows] - mean[:, None]
            of_clusters[c] = (shares[rows, slots] * differences) @ differences.T
        alike = len(coefficients.whitening) == 1
        return of_clusters.sum(axis=0, keepdims=True) if alike else of_clusters


SHAPES: tuple[Shape, ...] = (
    OneNumber(),
    NumberPerCluster(),
    NumberPerFeature(),
    Triangles(),
)


def columns_of(values: Array) -> Array:
    """Return the rows feature by feature, shape (D, B), in float64."""
    return np.ascontiguousarray(values.T, dtype=np.float64)


def canonical(
    columns: Array,
    means: Array,
    whitening: Array | None = None,
    missing: Array | None = None,
) -> Array:
    """Return the canonical ||y - mu_c||^2, or of whitened differences, shape (B, C).

    Differences first, then squares are summed in float64: in eight lanes, feature d in
    lane d modulo 8, which are folded in halves. The order is part of the definition.
    Vector units of any width can follow it, so every kernel finds the same bits.
    Values marked as missing, shape (D, B), add nothing.
    """

    def every(stride: int, first: int) -> Array:
        """Return the sum over features first, first + stride, first + 2 stride, ..."""
        if stride < LANES:
            return every(2 * stride, first) + every(2 * stride, first + stride)
        total = np.zeros((columns.shape[1], len(means)))
        for d in range(first, len(columns), LANES):
            difference = columns[d][:, None] - means[:, d]
            if whitening is not None:
                difference *= whitening[:, d]
            if missing is not None:
                difference[missing[d]] = 0.0
            total += np.multiply(difference, difference, out=difference)
        return total

    return every(1, 0)


def _sums(values: Array, K: Array, coefficients: Coefficients) -> Array:
    """Return for every cluster the sum of its values, given for the kept ones."""
    C = len(coefficients.means)
    return np.bincount(K.ravel(), values.ravel(), minlength=C)
