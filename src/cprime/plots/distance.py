"""Are rows farther from their cluster than its Gaussian allows?"""

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from cprime.plots import look
from cprime.plots.clusters import clusters_of
from cprime.plots.look import Display
from cprime.plots.mahalanobis import (
    DistanceTally,
    squared_distances,
    usual_limit,
    usual_share,
)
from cprime.plots.tables import Table, as_table
from cprime.typing import Array

# Bars up to the limit, and where they end on an axis that does not grow by factors.
BARS, LONGEST = 36, 4.0
BARS_PER_DECADE = 30


class DistanceDisplay(Display):
    """Distances of rows to their own cluster, beside what its Gaussian expects.

    Distances are in standard deviations of the cluster. Their squares would follow
    chi-square with D degrees of freedom; of a million rows 1,000 would be beyond the
    99.9 % line. Rows far beyond it are outliers; many rows beyond it mean that clusters
    are not Gaussians of this shape.

    Parameters
    ----------
    squared_distances : array-like of shape (N,)
        Squared Mahalanobis distances of rows; NaN is left out.
    n_features : int
        D.
    counts : array-like of shape (N,), optional
        How many rows each of them stands for. By default one.

    Attributes
    ----------
    limit : float
        The squared distance 99.9 % of all rows would stay within.
    n_rows, n_beyond, n_missing : int
        Rows, rows beyond the limit, and rows of which some value is missing.
    ax_, figure_
        Where it was drawn.
    """

    def __init__(self, squared_distances: Any, n_features: int, *, counts: Any = None):
        self.squared_distances = np.asarray(squared_distances, dtype=np.float64)
        self.n_features = int(n_features)
        if counts is None:
            counts = np.ones(len(self.squared_distances), dtype=np.int64)
        self.counts = np.asarray(counts)
        self.limit = usual_limit(self.n_features)
        known = ~np.isnan(self.squared_distances)
        self.n_rows = int(self.counts[known].sum())
        self.n_missing = int(self.counts[~known].sum())
        beyond = self.squared_distances > self.limit
        self.n_beyond = int(self.counts[beyond].sum())

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any) -> "DistanceDisplay":
        """Measure every row.

        Of rows in memory, `squared_distances` has one number for each. Rows that memory
        does not hold are only counted, see `cprime.plots.DistanceTally`.

        Parameters
        ----------
        estimator : fitted KMeans, SoftKMeans, GaussianMixture, or FuzzyKMeans with
            regularization="entropy"
        X : rows
        """
        D = clusters_of(estimator).means.shape[1]
        table = as_table(X, estimator)
        found = (squared_distances(estimator, block) for _, block in table.blocks())
        if isinstance(table, Table):
            return cls(np.concatenate(list(found)), D)
        tally = DistanceTally(usual_limit(D))
        for squared in found:
            tally.add(squared)
        return cls.from_tally(tally, D)

    @classmethod
    def from_tally(cls, tally: DistanceTally, n_features: int) -> "DistanceDisplay":
        """Draw distances that were counted as they came.

        Parameters
        ----------
        tally : DistanceTally
        n_features : int
        """
        squared, counts = tally.counted()
        if tally.missing:
            squared = np.append(squared, np.nan)
            counts = np.append(counts, tally.missing)
        return cls(squared, n_features, counts=counts)

    def plot(self, ax: Axes | None = None) -> "DistanceDisplay":
        """Draw a histogram, its counts on a logarithmic axis.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where. By default in a new figure.
        """
        ax = self._place(ax, (5.0, 3.6))
        known = ~np.isnan(self.squared_distances) & (self.counts > 0)
        distances = np.sqrt(self.squared_distances[known])
        limit = math.sqrt(self.limit)
        edges = self._edges(distances, limit)
        heights, _ = np.histogram(distances, edges, weights=self.counts[known])
        usual = edges[1:] <= limit * (1.0 + 1e-9)
        for which, colour, hatch, name in (
            (usual, look.SKY, "", "rows within"),
            (~usual, look.VERMILION, "////", "rows beyond"),
        ):
            ax.bar(
                edges[:-1][which],
                heights[which],
                np.diff(edges)[which],
                align="edge",
                color=colour,
                hatch=hatch,
                edgecolor="white",
                linewidth=0.3,
                label=name,
            )
        expected = self._expected(edges)
        ax.stairs(expected, edges, color=look.INK, linewidth=1.4, label="expected")
        ax.axvline(limit, color=look.INK, linestyle="--", linewidth=1.2)
        ax.set_yscale("log")
        ax.set_ylim(0.5, 3.0 * max(heights.max(initial=1.0), expected.max(), 1.0))
        ax.set_xlim(edges[0], edges[-1])
        ax.annotate(
            "99.9 %",
            (limit, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -2),
            textcoords="offset points",
            va="top",
            fontsize=look.SMALL,
            path_effects=look.HALO,
        )
        look.label(ax, "distance to own cluster (standard deviations)", "rows")
        look.heading(ax, *self._verdict())
        look.legend(ax)
        return self

    def _edges(self, distances: Array, limit: float) -> Array:
        """Return bins of which one ends at the limit."""
        farthest = max(distances.max(initial=limit), 1.1 * limit)
        if farthest <= LONGEST * limit:
            width = limit / BARS
            return width * np.arange(math.ceil(farthest / width * (1 + 1e-9)) + 1)
        ax_low = np.quantile(distances, 0.001) if len(distances) else limit
        low = max(min(float(ax_low), 0.5 * limit), 1e-3 * limit)
        ratio = 10.0 ** (1.0 / BARS_PER_DECADE)
        below = math.ceil(math.log(limit / low) / math.log(ratio))
        above = math.ceil(math.log(farthest / limit) / math.log(ratio) * (1 + 1e-9))
        self.ax_.set_xscale("log")
        self.ax_.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        self.ax_.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        self.ax_.xaxis.set_minor_formatter(NullFormatter())
        edges: Array = limit * ratio ** np.arange(-below, above + 1)
        return edges

    def _expected(self, edges: Array) -> Array:
        """Return how many rows a Gaussian has in every bin."""
        shares = usual_share(edges**2, self.n_features)
        expected: Array = self.n_rows * np.diff(shares)
        return expected

    def _verdict(self) -> list[str]:
        share = 100.0 * self.n_beyond / max(self.n_rows, 1)
        return [
            f"{self.n_beyond:,} of {self.n_rows:,} rows ({share:.2g} %) are beyond the "
            "99.9 % line; a Gaussian expects 0.1 %.",
            look.left_out(self.n_missing),
        ]
