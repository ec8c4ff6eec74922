"""Where are rows and clusters, and which rows are between clusters?"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D

from cprime.advice.wording import count
from cprime.plots import look
from cprime.plots.clusters import ask, clusters_of, shares_of
from cprime.plots.density import draw_density
from cprime.plots.directions import view_of
from cprime.plots.ellipses import draw_ellipses
from cprime.plots.look import Display
from cprime.plots.tables import as_table, sample_indices, values_of
from cprime.typing import Array

# Colours and ellipses, and numbers, for the largest so many clusters.
COLOURED, NUMBERS = 50, 25
# One in so many rows may lie outside of the picture, if far enough out.
TAIL, REACH = 0.02, 1.0
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
        Of the mixture, for the density of one feature.
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

    @property
    def known(self) -> Array:
        """The points of which nothing is missing."""
        return self.points[~np.isnan(self.points).any(axis=1)]

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
        clusters, table = clusters_of(estimator), as_table(X, estimator)
        n_rows, n_features = table.shape
        D = clusters.means.shape[1]
        if n_features != D:
            raise ValueError(f"X has {n_features} features, but the clusters have {D}.")
        block = table.take(sample_indices(n_rows, max_rows))
        values = values_of(block)
        labels = ask(estimator.predict, block)
        # Of sparse rows a dense answer has to be asked for.
        dense = {"sparse": False} if hasattr(block, "toarray") else {}
        posterior = ask(estimator.predict_proba, block, **dense)
        certainty = posterior[np.arange(len(labels)), labels]
        known = ~np.isnan(values).any(axis=1)
        view = view_of(clusters, shares_of(estimator), values[known], features)
        covariances = None
        if clusters.covariance is not None:
            covariances = clusters.across(view.directions)
        return cls(
            view.project(values),
            labels,
            certainty,
            clusters.means @ view.directions.T,
            covariances,
            clusters.proportions,
            names=view.names,
            n_rows=n_rows,
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
        C = len(self.means)
        outside = self._limit(ax)
        # The largest choose their colours first.
        sizes = np.bincount(self.labels, minlength=C)
        order = np.argsort(-sizes, kind="stable")
        largest = order[:COLOURED]
        colours = np.tile(to_rgb(look.FAINT), (C, 1))
        chosen = look.cluster_colours(self.means[largest])
        colours[largest] = [to_rgb(colour) for colour in chosen]
        self._draw_rows(ax, colours)
        if self.covariances is not None:
            for c in largest:
                draw_ellipses(ax, self.means[c], self.covariances[c], 0.55 * colours[c])
        ax.plot(
            *self.means.T,
            linestyle="none",
            marker="o",
            markersize=3.5 if C <= COLOURED else 2.0,
            markerfacecolor="white",
            markeredgecolor=look.INK,
            markeredgewidth=1.0 if C <= COLOURED else 0.5,
            zorder=5,
        )
        self._number(ax, order[:NUMBERS])
        look.heading(
            ax,
            look.drawn_of(len(self.points), self.n_rows, C),
            f"Coloured: the {COLOURED} largest clusters." if C > COLOURED else "",
            look.left_out(len(self.points) - len(self.known)),
            "Seen along the centres' main directions." if self.in_proportion else "",
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
            facecolors=faces[order],
            edgecolors=colours[self.labels[order]],
            linewidths=0.4,
            rasterized=N > 2_000,
            zorder=2,
        )

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
        known = self.known
        near = known[look.bulk(known, TAIL, REACH)]
        low, high = near.min(axis=0), near.max(axis=0)
        span = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0) * 1e-3)
        low, high = low - 0.05 * span, high + 0.05 * span
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        if self.in_proportion or span.max() < SIMILAR * span.min():
            low, high = look.in_proportion(ax, low, high)
        sentences = [
            count(n, what)
            for what, places in (("drawn row", known), ("centre", self.means))
            if (n := int(((places < low) | (places > high)).any(axis=1).sum()))
        ]
        return f"Outside of the picture: {', '.join(sentences)}." if sentences else ""

    def _explain(self, ax: Axes) -> None:
        dots: list[Any] = [
            Line2D(
                [],
                [],
                color=look.BLUE,
                marker="o",
                markersize=5,
                markerfacecolor=face,
                linestyle="none",
            )
            for face in (look.BLUE, _pale(look.BLUE))
        ]
        names = ["certain row", "uncertain row"]
        if self.covariances is not None:
            lines = tuple(
                Line2D([], [], color=look.INK, dashes=dashes, linewidth=1.0)
                for dashes in ((None, None), (3, 2))
            )
            dots.append(lines)
            names.append("1 and 2 standard deviations")
        look.legend(ax, dots, names)


def _doubtless(certainty: Array) -> Array:
    """Return 1 for a certain row, 0 for one that is rather elsewhere."""
    doubtless: Array = np.clip(2.0 * certainty - 1.0, 0.0, 1.0)
    return doubtless


def _pale(colour: str) -> tuple[float, float, float]:
    red, green, blue = (PALEST * part + 1.0 - PALEST for part in to_rgb(colour))
    return red, green, blue
