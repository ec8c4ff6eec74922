"""What does each C' gain, lose and cost?"""

import copy
import math
import time
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.gridspec import GridSpecFromSubplotSpec
from matplotlib.ticker import LogLocator, NullFormatter

from cprime.advice.wording import three_digits
from cprime.plots import look
from cprime.plots.clusters import clusters_of, require_density
from cprime.plots.look import Display
from cprime.plots.tables import open_rows
from cprime.typing import Array

C_PRIMES = (1, 2, 3, 5, 10, None)


class TruncationDisplay(Display):
    """Free energy F, likelihood L, their gap, and seconds, against C'.

    Parameters
    ----------
    c_prime : array-like of shape (M,)
        Clusters every row keeps.
    free_energy, log_likelihood, gap : array-like of shape (M,)
        At the end of each fit, in nats per row.
    seconds : array-like of shape (M,)
        Each fit took.
    n_clusters : int, optional
        C: a C' of as many is EM.

    Attributes
    ----------
    axes_ : ndarray of three matplotlib Axes
        For F and L, the gap, and seconds.
    ax_, figure_
        The first of them, and their figure.
    """

    axes_: Array

    def __init__(
        self,
        c_prime: Any,
        free_energy: Any,
        log_likelihood: Any,
        gap: Any,
        seconds: Any,
        *,
        n_clusters: int | None = None,
    ):
        self.c_prime = np.asarray(c_prime)
        self.free_energy = np.asarray(free_energy, dtype=np.float64)
        self.log_likelihood = np.asarray(log_likelihood, dtype=np.float64)
        self.gap = np.asarray(gap, dtype=np.float64)
        self.seconds = np.asarray(seconds, dtype=np.float64)
        self.n_clusters = n_clusters

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        c_primes: Any = C_PRIMES,
        sample_weight: Any = None,
    ) -> "TruncationDisplay":
        """Fit the rows again with each C', from the same seeds, and compare.

        Every fit is one of a new estimator with all parameters of the given one but
        `c_prime`, which itself is left as it is. Where its `random_state` is None, all
        take 0, so that they differ in C' alone. Those that keep all clusters search
        exactly. Seconds are those of whole fits, on this machine, now.

        Parameters
        ----------
        estimator : fitted KMeans, SoftKMeans, GaussianMixture, or FuzzyKMeans with
            regularization="entropy"
        X : rows
            As for `fit`.
        c_primes : iterable of int or None, default=(1, 2, 3, 5, 10, None)
            None is all clusters. Those above their number are skipped.
        sample_weight : array-like of shape (n_samples,), optional
        """
        require_density(estimator, cls.__name__)
        C = len(clusters_of(estimator).means)
        wanted = sorted({C if c is None else int(c) for c in c_primes})
        wanted = [c for c in wanted if c <= C]
        if not wanted:
            raise ValueError(
                f"c_primes={c_primes!r} has no number from 1 to the {C} clusters, nor "
                "None for all of them."
            )
        X, lines = open_rows(X, estimator), []
        for C_prime in wanted:
            refitted = _like(estimator, C_prime, C)
            start = time.perf_counter()
            refitted.fit(X, sample_weight=sample_weight)
            seconds = time.perf_counter() - start
            lines.append(
                (
                    C_prime,
                    refitted.free_energy_,
                    refitted.log_likelihood_,
                    refitted.gap_,
                    seconds,
                )
            )
        return cls(*zip(*lines), n_clusters=C)

    def plot(self, ax: Any = None) -> "TruncationDisplay":
        """Draw it, as three panels one above the other.

        Parameters
        ----------
        ax : matplotlib Axes, or array of three, optional
            Where. The place of one is divided among the three. By default in a new
            figure.
        """
        if isinstance(ax, Axes) or ax is None:
            ax = self._place(ax, (5.0, 5.6))
            spec = ax.get_subplotspec()
            if spec is None:
                raise ValueError(
                    "These axes are at no place of a grid that could be divided: make "
                    "them by plt.subplots(), or give three axes."
                )
            ax.remove()
            grid = GridSpecFromSubplotSpec(
                3, 1, subplot_spec=spec, height_ratios=(1.5, 1.0, 1.0)
            )
            figure = self.figure_
            top = figure.add_subplot(grid[0])
            ax = [top, *(figure.add_subplot(grid[i], sharex=top) for i in (1, 2))]
        self.axes_ = np.asarray(ax)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        for panel in self.axes_:
            look.tidy(panel)
        self._bounds(self.axes_[0])
        self._gaps(self.axes_[1])
        self._seconds(self.axes_[2])
        for panel in self.axes_:
            panel.set_xlim(-0.4, len(self.c_prime) - 0.6)
            panel.set_xticks(np.arange(len(self.c_prime)))
            panel.tick_params(labelbottom=panel is self.axes_[-1])
        self.axes_[-1].set_xticklabels([self._name(int(c)) for c in self.c_prime])
        look.label(self.axes_[-1], "clusters every row keeps, C'")
        return self

    def _bounds(self, panel: Axes) -> None:
        places = np.arange(len(self.c_prime))
        panel.fill_between(places, self.free_energy, self.log_likelihood, **look.GAP)
        panel.plot(
            places,
            self.log_likelihood,
            color=look.VERMILION,
            linestyle="--",
            marker="s",
            markersize=4.5,
            label="log-likelihood L",
        )
        panel.plot(
            places, self.free_energy, color=look.BLUE, marker="o", label="free energy F"
        )
        look.label(panel, y="nats per row")
        best = int(self.log_likelihood.argmax())
        look.heading(
            panel,
            f"Highest likelihood at C' = {self.c_prime[best]}: "
            f"{self.log_likelihood[best]:.4g} nats per row.",
        )
        panel.legend(frameon=False, fontsize=look.SMALL, loc="best")

    def _gaps(self, panel: Axes) -> None:
        places, some = np.arange(len(self.c_prime)), self.gap > 0
        if some.any():
            decades = np.log10(self.gap[some])
            low, high = math.floor(decades.min()), math.ceil(decades.max())
            # A zero has no place on this axis: it stands at the bottom, and says so.
            below = 0.0 if some.all() else 0.25 * (high - low) + 0.3
            panel.set_yscale("log")
            panel.set_ylim(10.0 ** (low - below), 10.0 ** (high + 0.1 * (high - low)))
            panel.yaxis.set_major_locator(LogLocator(numticks=5))
            panel.yaxis.set_minor_formatter(NullFormatter())
        else:
            panel.set(ylim=(0.0, 1.0), yticks=[])
        panel.plot(
            places[some], self.gap[some], color=look.INK, marker="D", markersize=4.5
        )
        for place in places[~some]:
            panel.plot(
                place,
                0.0,
                transform=panel.get_xaxis_transform(),
                marker="v",
                color=look.INK,
                markerfacecolor="white",
                clip_on=False,
                zorder=5,
            )
            panel.annotate(
                "0",
                (place, 0.0),
                xycoords=panel.get_xaxis_transform(),
                xytext=(0, 6),
                textcoords="offset points",
                ha="center",
                fontsize=look.SMALL,
            )
        look.label(panel, y="gap L - F\n(nats per row)")

    def _seconds(self, panel: Axes) -> None:
        places = np.arange(len(self.c_prime))
        panel.bar(places, self.seconds, width=0.55, color=look.SKY, edgecolor=look.INK)
        for place, seconds in zip(places, self.seconds):
            panel.annotate(
                three_digits(seconds),
                (place, seconds),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=look.SMALL,
            )
        panel.set_ylim(0.0, 1.25 * self.seconds.max() or 1.0)
        look.label(panel, y="seconds")

    def _name(self, C_prime: int) -> str:
        if C_prime == 1:
            return "1\n(hard)"
        return f"{C_prime}\n(all)" if C_prime == self.n_clusters else str(C_prime)


def _like(estimator: Any, C_prime: int, C: int) -> Any:
    """Return an unfitted estimator that differs in C' alone, and starts the same."""
    parameters = copy.deepcopy(estimator.get_params(deep=False))
    parameters["c_prime"] = C_prime
    if parameters["random_state"] is None:
        parameters["random_state"] = 0
    if "search" in parameters and C_prime == C > 1:
        parameters["search"] = "exact"
    if "n_neighbors" in parameters:
        parameters["n_neighbors"] = max(C_prime, parameters["n_neighbors"])
    return type(estimator)(**parameters)
