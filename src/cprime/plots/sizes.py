"""How many rows has each cluster?"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cprime.advice.wording import count, three_digits
from cprime.kernels.tensors import from_gpu
from cprime.plots import look
from cprime.plots.clusters import clusters_of, shares_of, sizes_of
from cprime.plots.look import Display

# Up to so many clusters a bar each, up to so many a number below it.
BARS, NAMED = 50, 25
# Sizes that span more than this need a logarithmic axis.
SPAN = 100.0


class SizesDisplay(Display):
    """The sizes of all clusters, largest first, beside an equal share.

    Parameters
    ----------
    sizes : array-like of shape (C,)
    unit : str, default="rows"
        What sizes count.

    Attributes
    ----------
    order : ndarray of shape (C,)
        Clusters, largest first.
    ax_, figure_
        Where it was drawn.
    """

    def __init__(self, sizes: Any, *, unit: str = "rows"):
        self.sizes = np.asarray(sizes, dtype=np.float64)
        self.unit = unit
        self.order = np.argsort(-self.sizes, kind="stable")

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None) -> "SizesDisplay":
        """Count the rows of each cluster.

        Parameters
        ----------
        estimator : fitted estimator
        X : rows, optional
            Whose labels are counted. By default the training rows, by `labels_`; of a
            mixture, which keeps no labels, the `weights_` are shown.
        """
        if X is not None:
            return cls(sizes_of(estimator, X))
        labels = getattr(estimator, "labels_", None)
        if labels is None:
            return cls(shares_of(estimator), unit="share of all rows")
        return cls(
            np.bincount(from_gpu(labels), minlength=len(clusters_of(estimator).means))
        )

    def plot(self, ax: Axes | None = None) -> "SizesDisplay":
        """Draw bars for up to 50 clusters, else a curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where. By default in a new figure.
        """
        ax = self._place(ax, (5.0, 3.4))
        C, sizes = len(self.sizes), self.sizes[self.order]
        if C <= BARS:
            places = np.arange(C)
            ax.bar(places, sizes, width=0.8, color=look.SKY, edgecolor=look.INK, lw=0.6)
            named = C if C <= NAMED else 0
            ax.set_xticks(places[:named], [str(c) for c in self.order[:named]])
            if C > 15:
                ax.tick_params(axis="x", labelsize=7)
            ax.tick_params(axis="x", length=0)
            ax.set_xlim(-0.7, C - 0.3)
            look.label(ax, f"cluster, largest of {C} first")
        else:
            rank = np.arange(1, C + 1)
            ax.fill_between(rank, sizes, color=look.SKY, alpha=0.5, linewidth=0)
            ax.plot(rank, sizes, color=look.BLUE, linewidth=1.6)
            ax.set_xlim(1, C)
            look.label(ax, f"{C:,} clusters, largest first")
        self._scale(ax)
        equal = self.sizes.sum() / C
        ax.axhline(equal, color=look.VERMILION, linestyle="--", linewidth=1.3)
        ax.annotate(
            f"equal share: {self._text(equal)}",
            (1.0, equal),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 3),
            textcoords="offset points",
            ha="right",
            fontsize=look.SMALL,
            color=look.VERMILION,
            path_effects=look.HALO,
        )
        ax.grid(visible=False, axis="x")
        look.label(ax, y=self.unit)
        look.heading(ax, self._verdict())
        return self

    def _scale(self, ax: Axes) -> None:
        some = self.sizes[self.sizes > 0]
        if len(some) and some.max() > SPAN * some.min():
            ax.set_yscale("log")
            ax.set_ylim(0.6 * some.min(), 1.6 * some.max())
        else:
            ax.set_ylim(0.0, 1.1 * self.sizes.max() or 1.0)

    def _verdict(self) -> str:
        largest, smallest = self.order[0], self.order[-1]
        share = 100.0 * self.sizes[largest] / (self.sizes.sum() or 1.0)
        text = (
            f"Largest: cluster {largest}, {self._text(self.sizes[largest])} "
            f"({share:.3g} %). "
        )
        empty = int((self.sizes == 0).sum())
        if empty:
            return f"{text}Empty: {count(empty, 'cluster')}."
        return (
            f"{text}Smallest: cluster {smallest}, {self._text(self.sizes[smallest])}."
        )

    def _text(self, size: float) -> str:
        if self.unit == "rows":
            return count(round(size), "row")
        return three_digits(size)
