"""Where are rows and clusters, and which rows are between clusters?"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse

from cprime.plots import look, rows
from cprime.plots.clusters import asked, clusters_of, shares_of
from cprime.plots.density import draw_density
from cprime.plots.directions import View, of_centres, of_features
from cprime.plots.look import Display
from cprime.typing import Array

# Ellipses and numbers for the largest so many clusters.
ELLIPSES, NUMBERS = 50, 25
# Rows outside of these quantiles may lie outside of the picture.
SEEN = 0.002
# Features of similar units are drawn with the same scale.
SIMILAR = 3.0
# How pale a row is that could as well belong elsewhere.
PALEST = 0.22


class MapDisplay(Display):
    """Rows and clusters in the plane; of one feature, a histogram and the density.

    Rows have the colour of their cluster and fade as it gets less probable. Ellipses
    are the clusters' covariances, at one and at two standard deviations.

    Parameters
    ----------
    points : array-like of shape (N, 1 or 2)
        Rows, as they are drawn.
    labels : array-like of shape (N,)
    certainty : array-like of shape (N,)
        Posterior probability of the label.
    means : array-like of shape (C, 1 or 2)
    covariances : array-like of shape (C, 1, 1) or (C, 2, 2), optional
    weights : array-like of shape (C,), optional
        Of the mixture, for its density; the largest clusters are numbered.
    names : sequence of one or two str
        What is along the axes.
    n_rows : int, optional
        Of which the points are a sample.
    in_proportion : bool, default=False
        Whether both axes need the same scale.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    """

    def __init__(
        self,
        points: Any,
        labels: Any,
        certainty: Any,
        means: Any,
        covariances: Any = None,
        weights: Any = None,
        *,
        names: Any = ("feature 0", "feature 1"),
        n_rows: int | None = None,
        in_proportion: bool = False,
    ):
        self.points = np.asarray(points, dtype=np.float64)
        self.labels = np.asarray(labels)
        self.certainty = np.asarray(certainty, dtype=np.float64)
        self.means = np.asarray(means, dtype=np.float64)
        self.covariances = None if covariances is None else np.asarray(covariances)
        C = len(self.means)
        self.weights = np.full(C, 1.0 / C) if weights is None else np.asarray(weights)
        self.names = tuple(str(name) for name in names)
        self.n_rows = len(self.points) if n_rows is None else int(n_rows)
        self.in_proportion = in_proportion

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: Any = None,
        max_rows: int = 5_000,
    ) -> "MapDisplay":
        """Look at rows, or at a sample that is the same every time.

        Parameters
        ----------
        estimator : fitted estimator
        X : rows
        features : pair of str or int, optional
            Features to look at. By default, of one or two all; of more, the two main
            directions of the centres, weighted by their shares of the rows.
        max_rows : int, default=5_000
            If there are more, a sample of so many is drawn.
        """
        clusters, X = clusters_of(estimator), rows.as_table(X)
        D = clusters.means.shape[1]
        if X.shape[1] != D:
            raise ValueError(f"X has {X.shape[1]} features, but the clusters have {D}.")
        block = rows.taken(X, rows.chosen(X.shape[0], max_rows))
        values = rows.values_of(block)
        labels = asked(estimator.predict, block)
        posterior = asked(
            lambda some: estimator.predict_proba(some, sparse=False), block
        )
        certainty = posterior[np.arange(len(labels)), labels]
        known = ~np.isnan(values).any(axis=1)
        view = _view(features, clusters, estimator, values[known])
        covariances = None
        if clusters.covariance is not None:
            covariances = clusters.across(view.directions)
        return cls(
            values @ view.directions.T,
            labels,
            certainty,
            clusters.means @ view.directions.T,
            covariances,
            clusters.proportions,
            names=view.names,
            n_rows=X.shape[0],
            in_proportion=view.in_proportion,
        )

    def plot(self, ax: Axes | None = None) -> "MapDisplay":
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where. By default in a new figure.
        """
        flat = self.means.shape[1] == 1
        ax = self._place(ax, (5.0, 3.6) if flat else (5.0, 4.8))
        look.label(ax, *self.names)
        if flat:
            draw_density(ax, self)
        else:
            self._draw_map(ax)
        return self

    def _draw_map(self, ax: Axes) -> None:
        # The largest choose their colours first.
        order = np.argsort(-self.weights, kind="stable")
        colours = np.empty((len(order), 3))
        chosen = look.cluster_colours(self.means[order])
        colours[order] = [to_rgb(colour) for colour in chosen]
        outside = self._limit(ax)
        self._draw_rows(ax, colours)
        if self.covariances is not None:
            for c in order[:ELLIPSES]:
                self._draw_ellipses(ax, c, colours[c])
        ax.plot(
            *self.means.T,
            linestyle="none",
            marker="o",
            markersize=3.5 if len(order) <= ELLIPSES else 2.0,
            markerfacecolor="white",
            markeredgecolor=look.INK,
            zorder=5,
        )
        self._number(ax, order[:NUMBERS])
        left_out = len(order) - ELLIPSES
        look.heading(
            ax,
            look.drawn_of(len(self.points), self.n_rows),
            f"Ellipses of the {ELLIPSES} largest of {len(order):,} clusters."
            if left_out > 0 and self.covariances is not None
            else "",
            outside,
        )
        self._explain(ax)

    def _draw_rows(self, ax: Axes, colours: Array) -> None:
        N = len(self.points)
        # In random order: rows that come last would cover those of other clusters.
        order = np.random.default_rng(0).permutation(N)
        strength = (PALEST + (1.0 - PALEST) * _doubtless(self.certainty))[:, None]
        faces = strength * colours[self.labels] + (1.0 - strength)
        ax.scatter(
            self.points[order, 0],
            self.points[order, 1],
            s=float(np.clip(12_000 / max(N, 1), 3.0, 16.0)),
            c=faces[order],
            linewidths=0,
            rasterized=N > 2_000,
            zorder=2,
        )

    def _draw_ellipses(self, ax: Axes, c: int, colour: Array) -> None:
        assert self.covariances is not None
        lengths, axes = np.linalg.eigh(self.covariances[c])
        width, height = 2.0 * np.sqrt(np.maximum(lengths, 0.0))
        angle = float(np.degrees(np.arctan2(axes[1, 0], axes[0, 0])))
        for sigmas, style in ((1, "-"), (2, "--")):
            ellipse = Ellipse(
                self.means[c],
                sigmas * width,
                sigmas * height,
                angle=angle,
                facecolor="none",
                edgecolor=0.55 * colour,
                linewidth=1.2 if sigmas == 1 else 0.8,
                linestyle=style,
                zorder=3,
            )
            ax.add_patch(ellipse)

    def _number(self, ax: Axes, order: Array) -> None:
        """Write numbers of clusters where they do not cover each other."""
        places = look.apart(ax, self.means[order], 14.0)
        for c in order[places]:
            ax.annotate(
                str(c),
                self.means[c],
                xytext=(0, 4),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=look.SMALL,
                fontweight="bold",
                color=look.INK,
                path_effects=look.HALO,
                annotation_clip=True,
                zorder=6,
            )

    def _limit(self, ax: Axes) -> str:
        """Set limits that single rows far away do not stretch; say what is outside."""
        known = self.points[~np.isnan(self.points).any(axis=1)]
        everything = known if len(known) else self.means
        low, high = np.quantile(everything, (SEEN, 1.0 - SEEN), axis=0)
        span = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0) * 1e-3)
        low, high = low - 0.1 * span, high + 0.1 * span
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        if self.in_proportion or span.max() < SIMILAR * span.min():
            ax.set_aspect("equal", adjustable="datalim")
        outside = ((known < low) | (known > high)).any(axis=1).sum()
        clusters = ((self.means < low) | (self.means > high)).any(axis=1).sum()
        said = [
            f"{n:,} {what}{'s' if n > 1 else ''}"
            for n, what in ((outside, "drawn row"), (clusters, "centre"))
            if n
        ]
        return f"Outside of the picture: {', '.join(said)}." if said else ""

    def _explain(self, ax: Axes) -> None:
        dots = [
            Line2D([], [], color=colour, marker="o", markersize=5, linestyle="none")
            for colour in (look.BLUE, _pale(look.BLUE))
        ]
        names = ["certain row", "row that could be elsewhere"]
        if self.covariances is not None:
            dots += [
                Line2D([], [], color=look.INK, linestyle=style, linewidth=1.0)
                for style in ("-", "--")
            ]
            names += ["1 and", "2 standard deviations"]
        look.legend(ax, columns=2, handles=dots, labels=names)


def _view(features: Any, clusters: Any, estimator: Any, values: Array) -> View:
    D = clusters.means.shape[1]
    if features is not None:
        return of_features(features, clusters.names)
    if D <= 2:
        return of_features(range(D), clusters.names)
    return of_centres(clusters, shares_of(estimator), values)


def _doubtless(certainty: Array) -> Array:
    """Return 1 for a certain row, 0 for one that is rather elsewhere."""
    doubtless: Array = np.clip(2.0 * certainty - 1.0, 0.0, 1.0)
    return doubtless


def _pale(colour: str) -> tuple[float, float, float]:
    red, green, blue = (PALEST * part + 1.0 - PALEST for part in to_rgb(colour))
    return red, green, blue
