"""Which clusters are large, and which of them overlap?"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from cprime.advice.wording import count
from cprime.overlap import overlaps as overlaps_of
from cprime.plots import look
from cprime.plots.clusters import clusters_of, shares_of
from cprime.plots.directions import of_separation
from cprime.plots.look import Display
from cprime.typing import Array

# Overlaps worth a line, the strongest so many.
LEAST, MOST_LINES = 0.05, 300
EXAMPLES = (0.1, 0.9)
# Clusters with a number: the largest.
NUMBERS = 20
MANY = 100
# Share of the picture that all discs cover together, square points of the largest and
# the smallest, and share of the width that discs side by side may take.
COVERED, LARGEST, SMALLEST, IN_A_ROW = 0.12, 1_200.0, 5.0, 0.8
# Features of similar units are drawn with the same scale.
SIMILAR = 3.0
# Clusters this small may stand at the border, if this far out.
NEGLIGIBLE, TAIL, REACH = 0.01, 0.15, 2.0


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
    in_proportion : bool, default=True
        Whether both axes need the same scale.

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
        names: Any = ("", ""),
        in_proportion: bool = True,
    ):
        self.positions = np.asarray(positions, dtype=np.float64)
        self.weights = np.asarray(weights, dtype=np.float64)
        self.overlaps = None if overlaps is None else np.asarray(overlaps)
        self.names = tuple(str(name) for name in names)
        self.in_proportion = in_proportion
        self.edges, self.n_overlapping = self._strongest()

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None) -> "ClusterMapDisplay":
        """Place clusters so that those far apart are seen to be.

        With one or two features they stand where they are. With more, positions are
        those of a linear discriminant analysis: distances, in standard deviations of
        the clusters, along the two directions in which the centres differ most.
        Overlaps are Bhattacharyya coefficients of the clusters' Gaussians.

        Parameters
        ----------
        estimator : fitted estimator
            Clusters of a FuzzyKMeans without a mixture behind it have no overlaps.
        X : rows, optional
            Whose labels give the weights. By default the mixture's `weights_`, or the
            training rows' `labels_`.
        """
        clusters, shares = clusters_of(estimator), shares_of(estimator, X)
        D = clusters.means.shape[1]
        found = None
        if clusters.covariance is not None:
            found = overlaps_of(clusters.means, clusters.covariance)
        if D <= 2:
            positions = np.zeros((len(clusters.means), 2))
            positions[:, :D] = clusters.means
            names = [*clusters.names, ""][:2]
            return cls(positions, shares, found, names=names, in_proportion=False)
        positions, spread = of_separation(clusters, shares)
        units = ["" if found is None else " (standard deviations)", ""]
        names = [
            f"direction {i + 1}, {100 * share:.0f} % of spread{units[i]}"
            if share > 0
            else ""
            for i, share in enumerate(spread)
        ]
        return cls(positions, shares, found, names=names)

    def plot(self, ax: Axes | None = None) -> "ClusterMapDisplay":
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where. By default in a new figure.
        """
        ax = self._place(ax, (5.0, 2.8) if self._on_a_line else (5.0, 4.6))
        look.label(ax, *self.names)
        places, at_border = self._limit(ax)
        self._link(ax, places)
        order = np.argsort(-self.weights, kind="stable")
        areas = self._areas(ax)
        for which, marker in ((~at_border, "o"), (at_border, "D")):
            some = order[which[order]]
            ax.scatter(
                places[some, 0],
                places[some, 1],
                s=areas[some] if marker == "o" else 3.0 * SMALLEST,
                marker=marker,
                facecolor=look.SKY if marker == "o" else "white",
                edgecolor=look.INK,
                linewidth=0.7 if len(order) <= MANY else 0.4,
                zorder=3,
            )
        numbered = order[:NUMBERS]
        for c in numbered[look.apart(ax, places[numbered], 13.0)]:
            ax.annotate(
                str(c),
                places[c],
                ha="center",
                va="center",
                fontsize=look.SMALL,
                color=look.INK,
                path_effects=look.HALO,
                zorder=5,
            )
        look.heading(ax, *self._verdict(at_border))
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

    def _areas(self, ax: Axes) -> Array:
        """Return square points of every disc."""
        width, height = look.points_of(ax)
        shares = self.weights / (self.weights.sum() or 1.0)
        unit = min(COVERED * width * height, LARGEST / (shares.max() or 1.0))
        if self._on_a_line:
            diameters = np.sqrt(4.0 / np.pi * unit * shares).sum()
            unit *= min(1.0, (IN_A_ROW * width / diameters) ** 2)
        areas: Array = np.maximum(unit * shares, SMALLEST)
        return areas

    def _limit(self, ax: Axes) -> tuple[Array, Array]:
        """Return where to draw clusters, and which are too far out to be there."""
        near = look.bulk(self.positions, TAIL, REACH)
        near |= self.weights > NEGLIGIBLE * self.weights.sum()
        low = self.positions[near].min(axis=0)
        high = self.positions[near].max(axis=0)
        span = high - low
        if not self.in_proportion and span.max() > SIMILAR * span.min():
            margin = 0.12 * np.where(span > 0, span, 1.0)
        else:
            margin = 0.12 * np.full(2, span.max() or 1.0)
        low, high = low - margin, high + margin
        if self._on_a_line:
            low[1], high[1] = -0.4, 1.1
            ax.set_yticks([])
            ax.spines["left"].set_visible(False)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        if margin[0] == margin[1] and not self._on_a_line:
            low, high = look.in_proportion(ax, low, high)
        inset = 0.02 * (high - low)
        at_border = ((self.positions < low) | (self.positions > high)).any(axis=1)
        places = np.clip(self.positions, low + inset, high - inset)
        return np.where(at_border[:, None], places, self.positions), at_border

    def _link(self, ax: Axes, places: Array) -> None:
        if not len(self.edges):
            return
        assert self.overlaps is not None
        strength = self.overlaps[self.edges[:, 0], self.edges[:, 1]]
        lines = places[self.edges]
        if self._on_a_line:
            lines = _arcs(lines)
        ax.add_collection(
            LineCollection(
                list(lines),
                linewidths=self._width(strength),
                colors=[_grey(float(s)) for s in strength],
                capstyle="round",
                # Discs of many clusters would hide the short lines between them.
                zorder=4 if len(self.weights) > MANY else 2,
            ),
            autolim=False,
        )

    def _width(self, overlap: Any) -> Any:
        widest = 4.0 if len(self.weights) <= MANY else 1.5
        return 0.5 + widest * overlap

    def _verdict(self, at_border: Array) -> list[str]:
        C, lines = len(self.weights), []
        if self.overlaps is None:
            lines.append("No mixture behind these clusters, so no overlaps.")
        else:
            lines.append(
                f"{count(C, 'cluster')}, "
                f"{count(self.n_overlapping, 'overlap')} of {LEAST} or more."
            )
        if self.n_overlapping > len(self.edges):
            lines.append(f"Lines: the {len(self.edges)} strongest.")
        if at_border.any():
            share = 100.0 * self.weights[at_border].sum() / self.weights.sum()
            far = count(int(at_border.sum()), "cluster")
            lines.append(f"Farther out, at the border: {far}, {share:.2g} % of rows.")
        return lines

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
        for strength in EXAMPLES if len(self.edges) else ():
            line = Line2D(
                [], [], color=_grey(strength), linewidth=self._width(strength)
            )
            handles.append(line)
            names.append(f"overlap {strength}")
        look.legend(ax, handles, names)


def _grey(overlap: float) -> str:
    return str(0.7 - 0.6 * overlap)


def _arcs(lines: Array) -> Array:
    """Return bows over the clusters they link, the higher the farther apart."""
    turn = np.linspace(0.0, np.pi, 25)
    start, end = lines[:, :1, 0], lines[:, 1:, 0]
    far = np.abs(end - start)
    heights = 0.25 + 0.75 * far / (far.max() or 1.0)
    x = 0.5 * (start + end) - 0.5 * (end - start) * np.cos(turn)
    return np.stack([x, heights * np.sin(turn)], axis=2)
