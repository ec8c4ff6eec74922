"""Which number and shape of clusters did a criterion prefer, and by how much?"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator, SymmetricalLogLocator

from cprime.advice.of_choice import TITLES, about_as_good, clusters_of
from cprime.advice.wording import MINUS
from cprime.plots import look
from cprime.plots.look import Display
from cprime.selection.comparable import comparable, last_word
from cprime.selection.criteria import NO_EVIDENCE
from cprime.typing import Array

# Colour and marker of every shape, the simplest first.
STYLES = {
    "k-means": (look.SKY, "o"),
    "isotropic": (look.BLUE, "s"),
    "spherical": (look.GREEN, "^"),
    "diag": (look.ORANGE, "D"),
    "tied": (look.PURPLE, "v"),
    "full": (look.VERMILION, "P"),
}


class ChoiceDisplay(Display):
    """A criterion against the number of clusters, a line for every shape.

    What is shown is how much worse than the choice a fit is, on an axis that is
    logarithmic beyond the differences that are no evidence.

    Parameters
    ----------
    n_clusters : array-like of shape (M,)
        Of every fit that was tried.
    shape : array-like of shape (M,)
        "k-means", "isotropic", "spherical", "diag", "tied" or "full".
    value : array-like of shape (M,)
        Of the criterion; lower is better.
    chosen : int
        Which of them was chosen. A fit of lower value has clusters that are not groups
        of their own.
    plausible : sequence of int
        Numbers of clusters that the evidence does not rule out.
    criterion : str, default="bic_free_energy"

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    """

    def __init__(
        self,
        n_clusters: Any,
        shape: Any,
        value: Any,
        *,
        chosen: int,
        plausible: Any,
        criterion: str = "bic_free_energy",
    ):
        self.n_clusters = np.asarray(n_clusters)
        self.shape = np.asarray(shape)
        self.value = np.asarray(value, dtype=np.float64)
        self.chosen = int(chosen)
        self.plausible = [int(number) for number in plausible]
        self.criterion = criterion

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, criterion: str | None = None
    ) -> "ChoiceDisplay":
        """Show what an `AutoMixture` has tried.

        Parameters
        ----------
        estimator : fitted AutoMixture
        criterion : str, optional
            Another than the one it chose by: "bic_free_energy", "icl" or "bic".
        """
        results = getattr(estimator, "results_", None)
        if results is None or "chosen" not in results:
            raise TypeError(
                f"{cls.__name__} draws a fitted AutoMixture, not "
                f"{type(estimator).__name__}."
            )
        criterion = criterion or str(estimator.criterion)
        if criterion not in results or criterion not in TITLES:
            raise ValueError(
                f"criterion={criterion!r} should be 'bic_free_energy', 'icl' or 'bic'."
            )
        shape = np.where(results["equal_weights"], "k-means", results["shape"])
        value, kept = comparable(results, criterion), last_word(results)
        return cls(
            results["n_clusters"][kept],
            shape[kept],
            value[kept],
            chosen=int(results["chosen"][kept].argmax()),
            plausible=estimator.plausible_,
            criterion=criterion,
        )

    def plot(self, ax: Axes | None = None) -> "ChoiceDisplay":
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where. By default in a new figure.
        """
        ax = self._place(ax, (6.0, 4.2))
        behind = self.value - self.value[self.chosen]
        self._scale(ax, behind)
        self._shade(ax)
        handles = []
        for name, (colour, marker) in STYLES.items():
            of = np.flatnonzero(self.shape == name)
            of = of[np.argsort(self.n_clusters[of], kind="stable")]
            if len(of):
                is_chosen = name == self.shape[self.chosen]
                self._line(ax, of, behind, colour, marker, is_chosen)
                handles.append(Line2D([], [], color=colour, marker=marker, ms=4.5))
        names = [name for name in STYLES if name in self.shape]
        if (behind < 0).any():
            handles.append(
                Line2D([], [], color=look.INK, marker="o", ms=4.5, mfc="white", lw=0)
            )
            names.append("clusters are not separate groups")
        self._mark(ax)
        look.whole_numbers(ax)
        title = TITLES[self.criterion]
        look.label(ax, "number of clusters C", f"{title}, above that of the choice")
        look.heading(ax, self._verdict())
        look.legend(ax, handles, names)
        return self

    def _scale(self, ax: Axes, behind: Array) -> None:
        finite = behind[np.isfinite(behind)]
        low, high = min(finite.min(), 0.0), max(finite.max(), 2.0 * NO_EVIDENCE)
        ax.set_yscale("symlog", linthresh=NO_EVIDENCE, linscale=0.6)
        bottom = 2.5 * low if low < -NO_EVIDENCE else low - 0.6 * NO_EVIDENCE
        ax.set_ylim(bottom, 2.0 * high)
        ax.yaxis.set_major_locator(
            SymmetricalLogLocator(base=10, linthresh=NO_EVIDENCE)
        )
        ax.yaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_formatter(
            FuncFormatter(lambda value, place: f"{value:,.0f}".replace("-", MINUS))
        )
        most = max(int(self.n_clusters.max()), 2)
        ax.set_xlim(1.0 - 0.03 * most, most + 0.03 * most)

    def _shade(self, ax: Axes) -> None:
        """Shade numbers that are plausible, and differences that are no evidence."""
        ax.axhspan(-NO_EVIDENCE, NO_EVIDENCE, color=look.FAINT, alpha=0.25, lw=0)
        for number in self.plausible:
            ax.axvspan(number - 0.5, number + 0.5, color=look.SKY, alpha=0.2, lw=0)
        ax.annotate(
            "differences here are no evidence",
            (1.0, NO_EVIDENCE),
            xycoords=("axes fraction", "data"),
            xytext=(-5, -3),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=look.SMALL,
            color=look.QUIET,
            path_effects=look.HALO,
        )

    def _line(
        self,
        ax: Axes,
        of: Array,
        behind: Array,
        colour: str,
        marker: str,
        is_chosen: bool,
    ) -> None:
        ax.plot(
            self.n_clusters[of],
            behind[of],
            color=colour,
            linewidth=2.0 if is_chosen else 1.1,
            alpha=1.0 if is_chosen else 0.75,
            zorder=3 if is_chosen else 2,
        )
        for groups, face in ((behind[of] >= 0, colour), (behind[of] < 0, "white")):
            ax.plot(
                self.n_clusters[of][groups],
                behind[of][groups],
                linestyle="none",
                marker=marker,
                markersize=4.5,
                color=colour,
                markerfacecolor=face,
                zorder=4,
            )

    def _mark(self, ax: Axes) -> None:
        C, shape = int(self.n_clusters[self.chosen]), self.shape[self.chosen]
        ax.plot(
            C,
            0.0,
            marker="o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor=look.INK,
            markeredgewidth=1.6,
            zorder=5,
        )
        left = 0.5 * sum(ax.get_xlim()) < C
        ax.annotate(
            f"{C}, {shape}",
            (C, 0.0),
            xytext=(-11 if left else 11, -13),
            textcoords="offset points",
            ha="right" if left else "left",
            fontsize=look.WORDS,
            fontweight="bold",
            color=look.INK,
            path_effects=look.HALO,
            zorder=6,
        )

    def _verdict(self) -> str:
        C, shape = int(self.n_clusters[self.chosen]), str(self.shape[self.chosen])
        if C == 1:
            text = "One cluster describes these rows best."
        else:
            text = f"{clusters_of(C, 'isotropic' if shape == 'k-means' else shape)}."
        others = [number for number in self.plausible if number != C]
        return f"{text} {about_as_good(others)}".rstrip()
