"""What do the rows say about a fit, in one pass over them?

Memory does not grow with their number: everything is a sum, a count, the best few, or a
sample that is the same every time.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import chdtri

from cprime.advice import TORN
from cprime.report.clusters import Clusters
from cprime.report.columns import Columns, ColumnTally
from cprime.report.few import Few
from cprime.report.rows import Scaling
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
# Rows farther away than all but this share would be, if clusters were Gaussian.
RARE = 0.001


@dataclass(frozen=True)
class Summary:
    """What rows say about a fit.

    Attributes
    ----------
    n_rows : int
    columns : Columns
    gaps : dict of int to float
        Nats per row lost at each C', under the parameters of the fit.
    log_likelihood : float
        Of these rows, mean per row.
    sizes, n_torn : ndarray of shape (C,), int64
        Rows closest to each cluster; those of them torn between clusters.
    confidences : ndarray of shape (C,)
        Mean probability of the own cluster, over its rows.
    squares : ndarray of shape (C,)
        Mean squared distance of its rows, per feature: 1 if they lie as the model says.
    leaks : csr_array of shape (C, C)
        Mean probability, over the rows of one cluster, of another.
    limit : float
        The squared distance that a share of `RARE` rows would exceed.
    n_beyond : int
        Rows that do.
    typical, border : ndarray of shape (C, 3), int64
        Rows closest to each centre; rows of least probability. -1 where there are none.
    outliers : ndarray of shape (10,), int64
    sample_rows : ndarray of shape (S,), int64
    sample : ndarray of shape (S, D)
        Some rows, in the units of the fit.
    sample_squares : ndarray of shape (S,)
        Their squared distances.
    """

    n_rows: int
    columns: Columns
    gaps: dict[int, float]
    log_likelihood: float
    sizes: Array
    n_torn: Array
    confidences: Array
    squares: Array
    leaks: Any
    limit: float
    n_beyond: int
    typical: Array
    border: Array
    outliers: Array
    sample_rows: Array
    sample: Array
    sample_squares: Array


def summarised(
    estimator: Any, clusters: Clusters, data: Any, scaling: Scaling
) -> Summary:
    """Go through all rows once and return what they say.

    Parameters
    ----------
    estimator : fitted estimator
    clusters : Clusters
        Its parameters.
    data : Data
    scaling : Scaling
        How its rows were scaled for the fit.
    """
    C, D = clusters.shape
    tally = _Tally(estimator, clusters, data.n_rows)
    columns = ColumnTally(D)
    for first, rows in data.blocks(max(1, BLOCK_VALUES // max(C, D))):
        columns.add(first, scaling.for_person(rows))
        tally.add(first, scaling.for_fit(rows))
    return tally.summary(columns.columns())


def asked(method: Any, *arguments: Any, **options: Any) -> Any:
    """Return what an estimator's method says of rows that have lost their names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return method(*arguments, **options)


def posterior(estimator: Any, rows: Array, n_kept: int, C: int) -> tuple[Array, ...]:
    """Return the closest clusters of rows, and how probable they are.

    Parameters
    ----------
    estimator : fitted estimator
    rows : ndarray of shape (B, D)
        In the units of the fit.
    n_kept : int
        Clusters to look at, of all C.
    C : int

    Returns
    -------
    K : ndarray of shape (B, n_kept)
        In the order of their numbers.
    q : ndarray of shape (B, n_kept)
        Their posterior if there were no others: rows sum to one.
    beyond : ndarray of shape (B,)
        What all others have beside that.
    """
    found = asked(estimator.predict_proba, rows, c_prime=n_kept, sparse=True)
    K = found.indices.reshape(-1, n_kept)
    q = found.data.reshape(-1, n_kept).astype(np.float64)
    if n_kept == C:
        return K, q, np.zeros(len(rows))
    gaps = asked(estimator.gap, rows, c_prime=n_kept, per="row")
    return K, q, np.expm1(gaps)


class _Tally:
    """Adds up what `Summary` tells, block by block."""

    def __init__(self, estimator: Any, clusters: Clusters, n_rows: int):
        C, D = clusters.shape
        self.estimator, self.clusters = estimator, clusters
        fitted = min(estimator._C_prime, MOST_KEPT)
        self.gaps = dict.fromkeys(
            sorted({*C_PRIMES, fitted} & {*range(1, C)}) or [1], 0.0
        )
        self.n_kept = min(C, max(self.gaps) + 1)
        self.n_rows = 0
        self.log_likelihood = 0.0
        self.sizes = np.zeros(C, dtype=np.int64)
        self.n_torn = np.zeros(C, dtype=np.int64)
        self.shares, self.squares = np.zeros(C), np.zeros(C)
        self.leaks = sp.csr_array((C, C))
        self.limit, self.n_beyond = float(chdtri(D, RARE)), 0
        self.typical, self.border = Few(C, PER_CLUSTER), Few(C, PER_CLUSTER)
        self.outliers = Few(1, OUTLIERS)
        at_most = max(1, min(n_rows, SAMPLE_ROWS, SAMPLE_VALUES // D))
        # The same rows every time, in order.
        self.sample_rows = np.sort(
            np.random.default_rng(0).choice(n_rows, at_most, replace=False)
        )
        self.sample: list[Array] = []
        self.sample_squares: list[Array] = []

    def add(self, first: int, rows: Array) -> None:
        """Look at a block of rows, in the units of the fit."""
        C = self.clusters.shape[0]
        numbers = first + np.arange(len(rows))
        K, q, beyond = posterior(self.estimator, rows, self.n_kept, C)
        self._add_gaps(q, beyond)
        # What the kept clusters have of each other, and with the others in the count.
        of_all = q / (1.0 + beyond[:, None])
        best = np.argmax(of_all, axis=1)[:, None]
        labels = np.take_along_axis(K, best, axis=1)[:, 0]
        own = np.take_along_axis(of_all, best, axis=1)[:, 0]
        squares = self.clusters.squared_distances(rows, labels)
        self.n_rows += len(rows)
        self.log_likelihood += float(self._log_densities(rows, squares, labels, own))
        self.sizes += np.bincount(labels, minlength=C)
        self.n_torn += np.bincount(labels[own < TORN], minlength=C)
        self.shares += np.bincount(labels, own, minlength=C)
        self.squares += np.bincount(labels, squares, minlength=C)
        owners = np.repeat(labels, K.shape[1])
        pairs = (of_all.ravel(), (owners, K.ravel()))
        self.leaks = self.leaks + sp.coo_array(pairs, shape=(C, C)).tocsr()
        self.n_beyond += int(np.count_nonzero(squares > self.limit))
        self.typical.offer(labels, squares, numbers)
        self.border.offer(labels, own, numbers)
        self.outliers.offer(np.zeros_like(labels), -squares, numbers)
        start, stop = np.searchsorted(self.sample_rows, (first, first + len(rows)))
        drawn = self.sample_rows[start:stop] - first
        self.sample.append(rows[drawn].astype(np.float64))
        self.sample_squares.append(squares[drawn])

    def summary(self, columns: Columns) -> Summary:
        """Return what was found."""
        whose = np.maximum(self.sizes, 1)
        return Summary(
            n_rows=self.n_rows,
            columns=columns,
            gaps={c: total / self.n_rows for c, total in self.gaps.items()},
            log_likelihood=self.log_likelihood / self.n_rows,
            sizes=self.sizes,
            n_torn=self.n_torn,
            confidences=self.shares / whose,
            squares=self.squares / whose / self.clusters.shape[1],
            leaks=sp.csr_array(sp.diags_array(1.0 / whose) @ self.leaks),
            limit=self.limit,
            n_beyond=self.n_beyond,
            typical=self.typical.rows,
            border=self.border.rows,
            outliers=self.outliers.rows[0],
            sample_rows=self.sample_rows,
            sample=np.concatenate(self.sample),
            sample_squares=np.concatenate(self.sample_squares),
        )

    def _add_gaps(self, q: Array, beyond: Array) -> None:
        best_first = -np.sort(-q, axis=1)
        # From the smallest up, so that a gap of 1e-20 is not lost beside 1.
        outside = np.cumsum(best_first[:, ::-1], axis=1)[:, ::-1] + beyond[:, None]
        inside = np.cumsum(best_first, axis=1)
        for c_prime in self.gaps.keys() - {self.clusters.shape[0]}:
            lost = np.log1p(outside[:, c_prime] / inside[:, c_prime - 1])
            self.gaps[c_prime] += float(lost.sum())

    def _log_densities(
        self, rows: Array, squares: Array, labels: Array, own: Array
    ) -> Any:
        if np.isnan(rows).any():
            return asked(self.estimator.score_samples, rows).sum()
        return self.clusters.log_densities(squares, labels, own).sum()
