"""What do the rows say about a fit, in one pass over them?

Memory does not grow with their number: everything is a sum, a count, the best few, or a
sample that is the same every time.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.advice import AMBIGUOUS
from cprime.plots import DistanceTally
from cprime.plots.clusters import ask
from cprime.plots.mahalanobis import distances_to, usual_limit
from cprime.plots.tables import sample_indices
from cprime.report.clusters import Fitted
from cprime.report.column_stats import ColumnStats, ColumnTally
from cprime.report.inputs import Scaling
from cprime.report.top_k import TopK
from cprime.typing import Array

# The C' whose gaps are measured, besides that of the fit,
C_PRIMES = (1, 2, 3, 5, 10)
# ... which is measured too, unless it is larger.
MOST_KEPT = 32
# Values of a block: posteriors and rows of so many are held at once.
BLOCK_VALUES = 2**21
# Rows, and values, that are kept to be drawn.
SAMPLE_ROWS, SAMPLE_VALUES = 5000, 2**22
PER_CLUSTER, OUTLIERS = 3, 10


@dataclass(frozen=True)
class Summary:
    """What rows say about a fit.

    Attributes
    ----------
    n_rows : int
    columns : ColumnStats
    gaps : dict of int to float
        Nats per row lost at each C', under the parameters of the fit.
    log_likelihood : float
        Of these rows, mean per row.
    sizes, n_ambiguous : ndarray of shape (C,), int64
        Rows closest to each cluster; those of them ambiguous between clusters.
    confidences : ndarray of shape (C,)
        Mean probability of the own cluster, over its rows.
    squares : ndarray of shape (C,)
        Mean squared distance of its rows, per feature: 1 if they lie as the model says.
    distances : DistanceTally
        How many rows are how far from their cluster.
    typical, border : ndarray of shape (C, 3), int64
        Rows closest to each centre; rows of least probability. -1 where there are none.
    outliers : ndarray of shape (10,), int64
        The rows farthest from their cluster, in its own metric.
    sample : ndarray of shape (S, D)
        Some rows, in the units of the fit.
    """

    n_rows: int
    columns: ColumnStats
    gaps: dict[int, float]
    log_likelihood: float
    sizes: Array
    n_ambiguous: Array
    confidences: Array
    squares: Array
    distances: DistanceTally
    typical: Array
    border: Array
    outliers: Array
    sample: Array


def summarise(fitted: Fitted, data: Any, scaling: Scaling) -> Summary:
    """Go through all rows once and return what they say.

    Parameters
    ----------
    fitted : Fitted
    data : Data
    scaling : Scaling
        How its rows were scaled for the fit.
    """
    C, D = fitted.shape
    tally = _Tally(fitted, data.n_rows)
    columns = ColumnTally(D)
    for first, rows in data.blocks(max(1, BLOCK_VALUES // max(C, D))):
        columns.add(first, scaling.for_user(rows))
        tally.add(first, scaling.for_fit(rows))
    return tally.summary(columns.stats())


def posterior(fitted: Fitted, rows: Array, n_kept: int) -> tuple[Array, Array, Array]:
    """Return the closest clusters of rows, and how probable they are.

    Parameters
    ----------
    fitted : Fitted
    rows : ndarray of shape (B, D)
        In the units of the fit.
    n_kept : int
        Clusters to look at, of all C.

    Returns
    -------
    K : ndarray of shape (B, n_kept)
        In the order of their numbers.
    q : ndarray of shape (B, n_kept)
        Their posterior if there were no others: rows sum to one.
    beyond : ndarray of shape (B,)
        What all others have beside that.
    """
    estimator = fitted.estimator
    found = ask(estimator.predict_proba, rows, c_prime=n_kept, sparse=True)
    K = found.indices.reshape(-1, n_kept)
    q = found.data.reshape(-1, n_kept).astype(np.float64)
    if n_kept == fitted.shape[0]:
        return K, q, np.zeros(len(rows))
    return K, q, np.expm1(ask(estimator.gap, rows, c_prime=n_kept, per="row"))


class _Tally:
    """Adds up what `Summary` holds, block by block."""

    def __init__(self, fitted: Fitted, n_rows: int):
        C, D = fitted.shape
        self.fitted = fitted
        c_primes = {*C_PRIMES, min(fitted.C_prime, MOST_KEPT)} & {*range(1, C)}
        self.gaps = dict.fromkeys(sorted(c_primes) or [1], 0.0)
        self.n_kept = min(C, max(self.gaps) + 1)
        self.n_rows = 0
        self.free_energy = 0.0
        self.sizes = np.zeros(C, dtype=np.int64)
        self.n_ambiguous = np.zeros(C, dtype=np.int64)
        self.n_measured = np.zeros(C, dtype=np.int64)
        self.shares, self.squares = np.zeros(C), np.zeros(C)
        self.distances = DistanceTally(usual_limit(D))
        self.typical, self.border = TopK(C, PER_CLUSTER), TopK(C, PER_CLUSTER)
        self.outliers = TopK(1, OUTLIERS)
        at_most = max(1, min(SAMPLE_ROWS, SAMPLE_VALUES // D))
        self.sample_rows = sample_indices(n_rows, at_most)
        self.sample: list[Array] = []

    def add(self, first: int, rows: Array) -> None:
        """Look at a block of rows, in the units of the fit."""
        C = self.fitted.shape[0]
        numbers = first + np.arange(len(rows))
        K, q, beyond = posterior(self.fitted, rows, self.n_kept)
        self._add_gaps(q, beyond)
        hard = ask(self.fitted.estimator.free_energy, rows, c_prime=1)
        best = np.argmax(q, axis=1)[:, None]
        labels = np.take_along_axis(K, best, axis=1)[:, 0]
        own = np.take_along_axis(q, best, axis=1)[:, 0] / (1.0 + beyond)
        self.n_rows += len(rows)
        self.free_energy += len(rows) * hard
        self.sizes += np.bincount(labels, minlength=C)
        self.n_ambiguous += np.bincount(labels[own < AMBIGUOUS], minlength=C)
        self.shares += np.bincount(labels, own, minlength=C)
        self.border.offer(labels, own, numbers)
        self._add_distances(labels, rows, numbers)
        start, stop = np.searchsorted(self.sample_rows, (first, first + len(rows)))
        drawn = self.sample_rows[start:stop] - first
        self.sample.append(rows[drawn].astype(np.float64))

    def summary(self, columns: ColumnStats) -> Summary:
        """Return what was found."""
        D = self.fitted.shape[1]
        gaps = {c_prime: lost / self.n_rows for c_prime, lost in self.gaps.items()}
        return Summary(
            n_rows=self.n_rows,
            columns=columns,
            gaps=gaps,
            log_likelihood=self.free_energy / self.n_rows + gaps[1],
            sizes=self.sizes,
            n_ambiguous=self.n_ambiguous,
            confidences=self.shares / np.maximum(self.sizes, 1),
            squares=self.squares / np.maximum(self.n_measured, 1) / D,
            distances=self.distances,
            typical=self.typical.rows,
            border=self.border.rows,
            outliers=self.outliers.rows[0],
            sample=np.concatenate(self.sample),
        )

    def _add_gaps(self, q: Array, beyond: Array) -> None:
        best_first = -np.sort(-q, axis=1)
        # From the smallest up, so that a gap of 1e-20 is not lost beside 1.
        outside = np.cumsum(best_first[:, ::-1], axis=1)[:, ::-1] + beyond[:, None]
        inside = np.cumsum(best_first, axis=1)
        for c_prime in self.gaps.keys() - {self.fitted.shape[0]}:
            lost = np.log1p(outside[:, c_prime] / inside[:, c_prime - 1])
            self.gaps[c_prime] += float(lost.sum())

    def _add_distances(self, labels: Array, rows: Array, numbers: Array) -> None:
        C = self.fitted.shape[0]
        squared = distances_to(self.fitted.clusters, labels, rows)
        self.distances.add(squared)
        known = ~np.isnan(squared)
        labels, squared, numbers = labels[known], squared[known], numbers[known]
        self.n_measured += np.bincount(labels, minlength=C)
        self.squares += np.bincount(labels, squared, minlength=C)
        self.typical.offer(labels, squared, numbers)
        self.outliers.offer(np.zeros_like(labels), -squared, numbers)
