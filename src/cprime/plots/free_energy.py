"""How did the free energy rise, and how far below the likelihood did it end?"""

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cprime.advice.wording import three_digits
from cprime.plots import look
from cprime.plots.clusters import require_density
from cprime.plots.look import Display
from cprime.typing import Array

# What comes after the first tenth of the iterations has at least a quarter of the
# height: a start far below is left below the picture.
EARLY, HEIGHTS = 0.1, 4.0
# Room above and below what is drawn.
MARGIN = 0.06


class FreeEnergyDisplay(Display):
    """The free energy F per iteration, the log-likelihood L at the end, and the gap.

    Parameters
    ----------
    iteration : array-like of shape (T,)
    free_energy : array-like of shape (T,)
        F after each iteration, in nats per row.
    log_likelihood : float, optional
        L at the end. The gap is how far above the last F it is.

    Attributes
    ----------
    gap : float or None
        L - F at the end, in nats per row.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from cprime import KMeans
    >>> from cprime.plots import FreeEnergyDisplay
    >>> kmeans = KMeans(2, random_state=0).fit([[0.0], [1.0], [4.0], [5.5]])
    >>> display = FreeEnergyDisplay.from_estimator(kmeans)
    >>> bool(display.gap == kmeans.gap_)
    True
    """

    def __init__(
        self, iteration: Any, free_energy: Any, log_likelihood: float | None = None
    ):
        self.iteration = np.asarray(iteration)
        self.free_energy = np.asarray(free_energy, dtype=np.float64)
        self.log_likelihood = log_likelihood
        self.gap: float | None = None
        if log_likelihood is not None:
            self.gap = max(float(log_likelihood - self.free_energy[-1]), 0.0)

    @classmethod
    def from_estimator(cls, estimator: Any) -> "FreeEnergyDisplay":
        """Return the history of a fit's best restart.

        Its last F is `free_energy_`, that of the parameters the fit returned.

        Parameters
        ----------
        estimator : fitted KMeans, SoftKMeans, GaussianMixture, or FuzzyKMeans with
            regularization="entropy"
        """
        require_density(estimator, cls.__name__)
        trace = estimator.trace_
        free_energy = np.array(trace["free_energy"], dtype=np.float64)
        free_energy[-1] = estimator.free_energy_
        likelihood = getattr(estimator, "log_likelihood_", None)
        display = cls(trace["iteration"], free_energy, likelihood)
        # Not by subtraction, so that a gap of 1e-20 is no zero.
        display.gap = getattr(estimator, "gap_", None)
        return display

    def plot(self, ax: Axes | None = None) -> "FreeEnergyDisplay":
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where. By default in a new figure.
        """
        ax = self._place(ax, (5.0, 3.6))
        last = float(self.free_energy[-1])
        ax.plot(
            self.iteration,
            self.free_energy,
            color=look.BLUE,
            linewidth=1.8,
            marker="o",
            markersize=3.5 if len(self.iteration) <= 40 else 0.0,
            label="free energy F",
        )
        if self.log_likelihood is not None:
            ax.axhline(
                self.log_likelihood,
                color=look.VERMILION,
                linestyle="--",
                linewidth=1.4,
                label="likelihood L at the end",
            )
            if self.gap:
                ax.axhspan(
                    last,
                    self.log_likelihood,
                    zorder=0.5,
                    label="gap L - F",
                    **look.GAP,
                )
        look.label(ax, "iteration", "nats per row")
        look.whole_numbers(ax)
        ax.margins(x=0.02)
        look.heading(ax, self._verdict(), self._cut(ax))
        look.legend(ax)
        return self

    def _verdict(self) -> str:
        if self.gap is None:
            return "Free energy per iteration; the likelihood is not known."
        if self.gap == 0.0:
            return "No gap: F is the log-likelihood itself."
        return f"Gap L - F: {three_digits(self.gap)} nats per row."

    def _cut(self, ax: Axes) -> str:
        """Set the vertical limits, and say what is below them."""
        F = self.free_energy
        top = F.max()
        if self.log_likelihood is not None:
            top = max(top, self.log_likelihood)
        first = _first_of_interest(F, top)
        low = F[first:].min()
        height = (top - low) or max(abs(top), 1.0) * 1e-3
        ax.set_ylim(low - MARGIN * height, top + MARGIN * height)
        if first == 0:
            return ""
        until = self.iteration[first - 1]
        which = f"iteration {until}" if first == 1 else f"iterations 0 to {until}"
        return f"Below the picture: {which}, from F = {F[0]:.4g}."


def _first_of_interest(F: Array, top: float) -> int:
    """Return from which iteration on the picture is not dwarfed by the ones before."""
    early = math.ceil(EARLY * (len(F) - 1))
    lowest = top - HEIGHTS * (top - F[early])
    return int(np.argmax(F[: early + 1] >= lowest))
