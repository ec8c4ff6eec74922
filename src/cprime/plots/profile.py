"""In which features does a cluster differ from all rows?"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cprime.advice.wording import MINUS
from cprime.plots import look
from cprime.plots.clusters import clusters_of, shares_of
from cprime.plots.look import Display
from cprime.plots.tables import Table, as_table, values_of
from cprime.sources import Data
from cprime.typing import Array

# Colours are not stretched for the last few cells, nor beyond so many spreads.
QUANTILE, FARTHEST = 0.98, 3.0
LONGEST_NAME = 18
# Of many clusters, and of many features, so many are drawn.
MOST_SHOWN = 40


class ProfileDisplay(Display):
    """A heat map of clusters and features, in units of the features' spread.

    A cell is how far a cluster's mean is above (or below) the mean of all rows, in
    standard deviations of all rows.

    Parameters
    ----------
    profile : array-like of shape (C, D)
    names : sequence of str
        Of the features.
    weights : array-like of shape (C,), optional
        Share of the rows in each cluster, by which they are ordered.

    Attributes
    ----------
    clusters, features : ndarray of int
        What the drawn rows and columns stand for.
    ax_, figure_, image_
        Where it was drawn.
    """

    clusters: Array
    features: Array

    def __init__(self, profile: Any, names: Any, weights: Any = None):
        self.profile = np.asarray(profile, dtype=np.float64)
        self.names = [str(name) for name in names]
        C = len(self.profile)
        self.weights = np.full(C, 1.0 / C) if weights is None else np.asarray(weights)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, names: Any = None
    ) -> "ProfileDisplay":
        """Compare the clusters' means with all rows.

        Parameters
        ----------
        estimator : fitted estimator
        X : rows, optional
            Whose mean and spread are compared with. By default those of the fitted
            mixture, which for one variance for all features are only as good as that.
        names : sequence of str, optional
            Of the features, if the estimator does not know them.
        """
        clusters = clusters_of(estimator)
        shares = shares_of(estimator, X)
        if X is not None:
            mean, spread = _of_rows(as_table(X, estimator))
        elif clusters.covariance is None:
            raise ValueError(
                f"{type(estimator).__name__} knows centres, but no variance: give X, "
                "whose mean and spread the clusters are compared with."
            )
        else:
            mean = shares @ clusters.means
            between = (clusters.means - mean) ** 2
            spread = np.sqrt(shares @ (clusters.variances() + between))
        profile = (clusters.means - mean) / np.where(spread > 0, spread, 1.0)
        return cls(profile, clusters.names if names is None else names, shares)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_clusters: int | None = MOST_SHOWN,
        max_features: int | None = MOST_SHOWN,
    ) -> "ProfileDisplay":
        """Draw it, largest clusters first.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where. By default in a new figure.
        max_clusters : int or None, default=40
            Draw the largest so many; None is all.
        max_features : int or None, default=40
            If there are more, draw so many that tell clusters apart best, the best
            first; None is all, in their order.
        """
        self.select(max_clusters, max_features)
        cells = self.profile[np.ix_(self.clusters, self.features)]
        ax = self._place(ax, self._size())
        ax.grid(visible=False)
        limit = _limit(np.abs(cells))
        self.image_ = ax.imshow(
            cells,
            cmap="PuOr_r",
            vmin=-limit,
            vmax=limit,
            aspect="auto",
            interpolation="nearest",
        )
        self._name_axes(ax)
        self._mark(ax, cells, limit)
        beyond = np.abs(cells).max(initial=0.0) > limit * (1 + 1e-9)
        bar = ax.figure.colorbar(
            self.image_, ax=ax, extend="both" if beyond else "neither", pad=0.02
        )
        bar.set_label(f"spreads above\nthe mean ({MINUS} below)", size=look.SMALL)
        bar.ax.tick_params(labelsize=look.SMALL)
        look.heading(ax, *self.left_out())
        return self

    def select(
        self,
        max_clusters: int | None = MOST_SHOWN,
        max_features: int | None = MOST_SHOWN,
    ) -> None:
        """Set `clusters` and `features` to those that are drawn, as `plot` does."""
        D = self.profile.shape[1]
        self.clusters = np.argsort(-self.weights, kind="stable")[:max_clusters]
        self.features = np.arange(D)
        if max_features is not None and max_features < D:
            # A handful of rows far out does not make a feature important.
            explained = self.weights @ np.minimum(np.abs(self.profile), FARTHEST) ** 2
            self.features = np.argsort(-explained, kind="stable")[:max_features]

    def left_out(self) -> list[str]:
        """Return which clusters and features are not drawn, in sentences."""
        (C, D), sentences = self.profile.shape, []
        if len(self.clusters) < C:
            sentences.append(f"The {len(self.clusters)} largest of {C:,} clusters.")
        if len(self.features) < D:
            sentences.append(
                f"Of {D:,} features, the {len(self.features)} that tell clusters apart "
                "best, the best first."
            )
        return sentences

    def _size(self) -> tuple[float, float]:
        """Return inches of a figure with cells and names that can be read."""
        longest = max(len(_short(self.names[d])) for d in self.features)
        width = 2.2 + 0.22 * len(self.features)
        height = 1.1 + 0.075 * longest + 0.2 * len(self.clusters)
        return min(max(width, 5.0), 10.0), min(max(height, 3.0), 9.5)

    def _name_axes(self, ax: Axes) -> None:
        width, height = look.points_of(ax)
        step = _step(len(self.clusters), height / 9.0)
        places = np.arange(0, len(self.clusters), step)
        shares = 100.0 * self.weights[self.clusters]
        ax.set_yticks(
            places, [f"{self.clusters[i]}  ({shares[i]:.2g} %)" for i in places]
        )
        # The bar of colours will take a part of the width.
        step = _step(len(self.features), width / 12.0)
        places = np.arange(0, len(self.features), step)
        names = [_short(self.names[self.features[i]]) for i in places]
        ax.set_xticks(places, names)
        upright = sum(map(len, names)) * 5.0 > width
        ax.tick_params(axis="x", labelrotation=90 if upright else 0)
        ax.tick_params(labelsize=look.SMALL, length=0)
        ax.spines[:].set_visible(False)
        look.label(ax, "feature", "cluster (share of rows)")

    def _mark(self, ax: Axes, cells: Array, limit: float) -> None:
        """Write numbers, or at least signs, which grey print does not tell apart."""
        width, height = look.points_of(ax) / cells.shape[::-1]
        if height >= 9.0 and width >= 20.0:
            rounded = cells.round(1) + 0.0
            marks = {(i, j): f"{rounded[i, j]:.1f}" for i, j in np.ndindex(cells.shape)}
        elif height >= 6.0 and width >= 6.0:
            marks = dict.fromkeys(zip(*np.nonzero(cells < -0.3 * limit)), "-")
        else:
            return
        for (i, j), mark in marks.items():
            dark = abs(cells[i, j]) > 0.6 * limit
            ax.text(
                j,
                i,
                mark.replace("-", MINUS),
                ha="center",
                va="center",
                fontsize=7.5,
                color="white" if dark else look.INK,
            )


def _of_rows(table: Data | Table) -> tuple[Array, Array]:
    """Return mean and standard deviation of every feature, of what is known of it."""
    D = table.n_features
    known, mean, scatter = np.zeros(D), np.zeros(D), np.zeros(D)
    for _, block in table.blocks():
        values = values_of(block)
        there = ~np.isnan(values)
        more = there.sum(axis=0)
        means = np.where(there, values, 0.0).sum(axis=0) / np.maximum(more, 1)
        within = (np.where(there, values - means, 0.0) ** 2).sum(axis=0)
        # Scatter adds up about a common mean, block by block, without cancellation.
        share = more / np.maximum(known + more, 1)
        scatter += within + (means - mean) ** 2 * known * share
        mean += (means - mean) * share
        known += more
    return mean, np.sqrt(scatter / np.maximum(known, 1))


def _limit(cells: Array) -> float:
    """Return where the colours end, which a few far cells do not stretch."""
    most, farthest = float(np.quantile(cells, QUANTILE)), float(cells.max())
    return max(min(farthest if farthest <= 1.5 * most else most, FARTHEST), 1e-9)


def _step(n: int, room: float) -> int:
    """Return one in how many labels fits into this room."""
    for step in (1, 2, 5, 10, 20, 50, 100, 200, 500):
        if n / step <= room:
            return step
    return n


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
