"""Which clusters are large, and which of them overlap?"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from cprime.overlap import overlaps as overlaps_of
from cprime.plots import look
from cprime.plots.clusters import clusters_of, shares_of
from cprime.plots.directions import of_separation
from cprime.plots.look import Display
from cprime.typing import Array

# Overlaps worth a line, the strongest so many.
LEAST, MOST_LINES = 0.05, 300
# Clusters with a number: the largest.
NUMBERS = 20
# Square points that all discs cover together, and the largest and smallest of them.
COVERED, LARGEST, SMALLEST = 9_000.0, 1_400.0, 8.0


class ClusterMapDisplay(Display):
    """Clusters as discs, their areas as their shares of the rows, linked by overlap.

    Parameters
    ----------
    positions : array-like of shape (C, 2)
    weights : array-like of shape (C,)
    overlaps : array-like of shape (C, C), optional
        From 0 to 1: see `cprime.overlap`.
    names : pair of str, optional
        What is along the axes.

    Attributes
    ----------
    edges : ndarray of shape (E, 2)
        Pairs of clusters that are linked, the strongest last.
    n_overlapping : int
        Pairs that overlap enough for a line, drawn or not.
    ax_, figure_
        Where it was drawn.
    """

    def __init__(
        self,
        positions: Any,
        weights: Any,
        overlaps: Any = None,
        *,
        names: tuple[str, ...] = ("", ""),
    ):
        self.positions = np.asarray(positions, dtype=np.float64)
        self.weights = np.asarray(weights, dtype=np.float64)
        self.overlaps = None if overlaps is None else np.asarray(overlaps)
        self.names = names
        self.edges, self.n_overlapping = self._strongest()

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None) -> "ClusterMapDisplay":
        """Place clusters so that those far apart are seen to be.

        Positions are those of a linear discriminant analysis: distances, in standard
        deviations of the clusters, along the two directions in which the centres differ
        most. Overlaps are Bhattacharyya coefficients of the clusters' Gaussians.

        Parameters
        ----------
        estimator : fitted estimator
            Clusters of a FuzzyKMeans without a mixture behind it have no overlaps.
        X : rows, optional
            Whose labels give the weights. By default the mixture's `weights_`, or the
            training rows' `labels_`.
        """
        clusters, shares = clusters_of(estimator), shares_of(estimator, X)
        positions, spread, in_deviations = of_separation(clusters, shares)
        found = None
        if clusters.covariance is not None:
            found = overlaps_of(clusters.means, clusters.covariance)
        unit = "standard deviations" if in_deviations else "units of the data"
        names = tuple(
            f"direction {i + 1}, {100 * share:.0f} % of the centres' spread ({unit})"
            if share > 0
            else ""
            for i, share in enumerate(spread)
        )
        return cls(positions, shares, found, names=names)

    def plot(self, ax: Axes | None = None) -> "ClusterMapDisplay":
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where. By default in a new figure.
        """
        ax = self._place(ax, (5.0, 4.6))
        look.label(ax, *self.names)
        self._limit(ax)
        self._link(ax)
        order = np.argsort(-self.weights, kind="stable")
        areas = self._areas()
        ax.scatter(
            self.positions[order, 0],
            self.positions[order, 1],
            s=areas[order],
            facecolor=look.SKY,
            edgecolor=look.INK,
            linewidth=0.7,
            alpha=0.85,
            zorder=3,
        )
        numbered = order[:NUMBERS]
        for c in numbered[look.apart(ax, self.positions[numbered], 13.0)]:
            ax.annotate(
                str(c),
                self.positions[c],
                ha="center",
                va="center",
                fontsize=look.SMALL,
                color=look.INK,
                path_effects=look.HALO,
                zorder=5,
            )
        look.heading(ax, *self._verdict())
        self._explain(ax)
        return self

    @property
    def _on_a_line(self) -> bool:
        return bool((self.positions[:, 1] == 0.0).all())

    def _strongest(self) -> tuple[Array, int]:
        if self.overlaps is None:
            return np.empty((0, 2), dtype=np.intp), 0
        first, second = np.nonzero(np.triu(self.overlaps >= LEAST, k=1))
        strength = self.overlaps[first, second]
        order = np.argsort(strength, kind="stable")[-MOST_LINES:]
        return np.stack([first[order], second[order]], axis=1), len(first)

    def _areas(self) -> Array:
        largest = float(self.weights.max()) or 1.0
        unit = min(COVERED / (self.weights.sum() or 1.0), LARGEST / largest)
        areas: Array = np.maximum(unit * self.weights, SMALLEST)
        return areas

    def _limit(self, ax: Axes) -> None:
        low, high = self.positions.min(axis=0), self.positions.max(axis=0)
        span = max(float((high - low).max()), 1e-12)
        margin = 0.12 * span
        ax.set_xlim(low[0] - margin, high[0] + margin)
        if self._on_a_line:
            ax.set_ylim(-1.0, 1.0)
            ax.set_yticks([])
            ax.spines["left"].set_visible(False)
        else:
            ax.set_ylim(low[1] - margin, high[1] + margin)
            ax.set_aspect("equal", adjustable="datalim")

    def _link(self, ax: Axes) -> None:
        if not len(self.edges):
            return
        assert self.overlaps is not None
        strength = self.overlaps[self.edges[:, 0], self.edges[:, 1]]
        widths, greys = 0.4 + 4.0 * strength, 0.75 - 0.6 * strength
        if self._on_a_line:
            for (a, b), width, grey in zip(self.edges, widths, greys):
                left, right = sorted(self.positions[[a, b], 0])
                arc = FancyArrowPatch(
                    (left, 0.0),
                    (right, 0.0),
                    connectionstyle="arc3,rad=-0.4",
                    arrowstyle="-",
                    color=str(grey),
                    linewidth=width,
                    zorder=1,
                )
                ax.add_patch(arc)
            return
        ax.add_collection(
            LineCollection(
                list(self.positions[self.edges]),
                linewidths=widths,
                colors=[str(grey) for grey in greys],
                zorder=1,
            )
        )

    def _verdict(self) -> list[str]:
        C = len(self.weights)
        said = []
        if C > NUMBERS:
            said.append(f"{C:,} clusters, the largest are numbered.")
        if self.overlaps is None:
            return [*said, "No mixture behind these clusters, so no overlaps."]
        pairs = C * (C - 1) // 2
        if pairs:
            said.append(
                f"{self.n_overlapping:,} of {pairs:,} pairs overlap by {LEAST} or more."
            )
        if self.n_overlapping > len(self.edges):
            said.append(f"Lines: the {len(self.edges)} strongest.")
        return said

    def _explain(self, ax: Axes) -> None:
        handles = [
            Line2D(
                [],
                [],
                linestyle="none",
                marker="o",
                markersize=8,
                markerfacecolor=look.SKY,
                markeredgecolor=look.INK,
            )
        ]
        names = ["area: share of the rows"]
        for strength in (0.1, 0.5, 0.9) if len(self.edges) else ():
            grey, width = 0.75 - 0.6 * strength, 0.4 + 4.0 * strength
            handles.append(Line2D([], [], color=str(grey), linewidth=width))
            names.append(f"overlap {strength}")
        look.legend(ax, columns=2, handles=handles, labels=names)
