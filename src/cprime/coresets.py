"""Which few rows, with which weights, stand for all of them?

Lightweight coresets (Bachem, Lucic & Krause 2018): rows are drawn half by their weight
and half by their squared distance to the mean, and weigh the inverse of what that gave
them.
"""

import numpy as np

from cprime.kernels import Kernel
from cprime.keyed_rows import KeyedRows
from cprime.rows import Rows
from cprime.spread import one_cluster
from cprime.typing import Array


def lightweight_coreset(
    rows: Rows, size: int, kernel: Kernel, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return different rows and their weights, of `size` draws.

    ``q(y) = 1/2 w / W + 1/2 w ||y - m||^2 / sum w ||y - m||^2``, with m the mean; a row
    that is drawn r times has the weight ``r w / (size q)``. Any sum over all rows is in
    expectation that over these. A few passes over rows, wherever they are; which are
    drawn does not depend on their order, nor on how they are repeated.
    """
    mean = one_cluster(rows, kernel).means
    keyed = KeyedRows(rows, kernel, rng)

    def from_mean(values: Array, weights: Array) -> Array:
        return kernel.distances(values, mean)[:, 0]

    def spread(weights: Array, squared: Array) -> Array:
        return np.array([weights @ squared])

    squared = rows.columns(from_mean)
    total = float(rows.sum_slices(spread, squared)[0])

    def of_weight(squared: Array) -> Array:
        """Return q of rows, per unit of their weight."""
        by_weight = np.full(len(squared), 1.0 / rows.weight)
        return 0.5 * (by_weight + squared / total) if total > 0.0 else by_weight

    places = keyed.draw_places(rng.random(size), of_weight, squared)
    drawn, times = np.unique(places, return_counts=True)
    values, copies = np.unique(rows.take(drawn), axis=0, return_inverse=True)
    counts = np.bincount(copies.ravel(), times, len(values))
    return values, counts / (size * of_weight(from_mean(values, counts)))
