"""Which pictures does a report have, and what do they show, in words?"""

import base64
import copy
import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from cprime.advice.of_choice import TITLES
from cprime.advice.wording import count, listing, nats, number, plain, share
from cprime.plots import (
    ChoiceDisplay,
    ClusterMapDisplay,
    DistanceDisplay,
    FreeEnergyDisplay,
    MapDisplay,
    SizesDisplay,
)
from cprime.report.cluster_table import shares_of, sizes_of
from cprime.report.clusters import Fitted
from cprime.report.inputs import Scaling
from cprime.report.summary import Summary

# Lines stay sharp in print; of very many shapes, dots are smaller.
SHARP, DOTS = "svg", "png"
DOTS_PER_INCH = 130
LONGEST_NAME = 18
WIDTH = 5.4


@dataclass(frozen=True)
class Picture:
    """A picture inside the page.

    Attributes
    ----------
    source : str
        A data address: the picture itself.
    alt : str
        What it shows, in words.
    caption : str
    """

    source: str
    alt: str
    caption: str


class Pictures:
    """Draws the pictures of one report.

    Parameters
    ----------
    fitted : Fitted
    summary : Summary, optional
    names : sequence of str
        Of the columns, whatever they are.
    scaling : Scaling
    """

    def __init__(
        self,
        fitted: Fitted,
        summary: Summary | None,
        names: Sequence[str],
        scaling: Scaling,
    ):
        self.fitted, self.summary, self.scaling = fitted, summary, scaling
        # A dollar would begin a formula.
        self.names = [plain(name, LONGEST_NAME).replace("$", r"\$") for name in names]
        self.named = copy.copy(fitted.estimator)
        self.named.feature_names_in_ = np.array(self.names, dtype=object)

    def choice(self) -> Picture | None:
        """Return what was tried to find the number of clusters."""
        choice = self.fitted.choice
        if choice is None:
            return None
        display = ChoiceDisplay.from_estimator(choice)
        alt = (
            f"{TITLES[display.criterion]} of all mixtures that were tried, of 1 to "
            f"{display.n_clusters.max():,} clusters. {choice.verdict_}"
        )
        caption = (
            "How much worse than the choice other numbers and shapes are. Differences "
            "in the grey band are no evidence; numbers in blue are about as good."
        )
        return _draw(display, (WIDTH, 4.0), SHARP, alt, caption)

    def convergence(self) -> Picture | None:
        """Return F by iteration."""
        estimator = self.fitted.estimator
        if not hasattr(estimator, "trace_"):
            return None
        display = FreeEnergyDisplay.from_estimator(estimator)
        energies = display.free_energy
        alt = (
            f"Free energy by iteration: from {number(float(energies[0]))} to "
            f"{number(float(energies[-1]))} nats per row."
        )
        if display.gap is not None:
            alt += f" The likelihood is {nats(display.gap)} above."
        caption = (
            "Every iteration raises the free energy F, a lower bound on the "
            "log-likelihood L. What is left between them at the end is the gap."
        )
        return _draw(display, (WIDTH, 3.4), SHARP, alt, caption)

    def sizes(self) -> Picture:
        """Return the sizes of the clusters."""
        sizes = sizes_of(self.fitted, self.summary)
        shares = shares_of(self.fitted, self.summary)
        if sizes is None:
            display = SizesDisplay(shares, unit="share of all rows")
        else:
            display = SizesDisplay(sizes)
        largest, smallest = int(shares.argmax()), int(shares.argmin())
        alt = (
            f"Sizes of {count(len(shares), 'cluster')}: from {share(shares[smallest])} "
            f"of the rows in cluster {smallest} to {share(shares[largest])} in cluster "
            f"{largest}."
        )
        caption = "How many rows each cluster has."
        return _draw(display, (WIDTH, 3.4), SHARP, alt, caption)

    def cluster_map(self) -> Picture:
        """Return the centres in the plane, linked by their overlaps."""
        D = self.fitted.shape[1]
        shares = shares_of(self.fitted, self.summary)
        display = ClusterMapDisplay.from_estimator(self.named)
        display.weights = shares
        where = "as far apart as they are in standard deviations of the clusters"
        if D <= 2:
            places = display.positions[:, :D]
            display.positions[:, :D] = self.scaling.undo(places)
            where = "where they are"
        strongest = [f"{a} and {b}" for a, b in display.edges[::-1][:3]]
        alt = f"Map of {count(len(shares), 'cluster centre')}. " + (
            f"The strongest overlaps: {listing(strongest)}."
            if strongest
            else "No two overlap enough to be linked."
        )
        caption = f"Centres, {where}. Areas are sizes, lines are overlaps."
        size = (WIDTH, 4.8 if D > 1 else 3.6)
        return _draw(display, size, DOTS, alt, caption)

    def map(self) -> Picture | None:
        """Return rows and clusters in the plane, or along a line."""
        if self.summary is None:
            return None
        sample, D = self.summary.sample, self.fitted.shape[1]
        display = MapDisplay.from_estimator(self.named, sample)
        display.n_rows = self.summary.n_rows
        if D <= 2:
            self._use_user_units(display)
            what = " and ".join(display.names).replace(r"\$", "$")
        else:
            what = "the two directions in which the centres differ most"
        alt = (
            f"{count(len(sample), 'row')}, coloured by cluster, along {what}; rows "
            "between clusters are paler."
        )
        caption = (
            "Rows fade where they could as well belong to another cluster."
            if D > 1
            else "How rows are spread, and the density that was fitted to them."
        )
        return _draw(display, (WIDTH, 4.8 if D > 1 else 3.6), DOTS, alt, caption)

    def distances(self) -> Picture | None:
        """Return distances of rows beside what Gaussians would have."""
        if self.summary is None:
            return None
        D = self.fitted.shape[1]
        display = DistanceDisplay.from_tally(self.summary.distances, D)
        alt = (
            f"Histogram of distances of rows to their cluster. "
            f"{count(display.n_beyond)} of {count(display.n_rows)} are beyond the "
            "distance that one row in a thousand of a Gaussian exceeds."
        )
        caption = (
            "Distances of rows to their own cluster, in its standard deviations; the "
            "black line is what Gaussian clusters would give."
        )
        return _draw(display, (WIDTH, 3.6), SHARP, alt, caption)

    def _use_user_units(self, display: MapDisplay) -> None:
        scaling = self.scaling
        display.points = scaling.undo(display.points)
        display.means = scaling.undo(display.means)
        if display.covariances is not None and not scaling.is_none:
            display.covariances = display.covariances * np.outer(
                scaling.scale, scaling.scale
            )


def _draw(
    display: Any, size: tuple[float, float], form: str, alt: str, caption: str
) -> Picture:
    with _own_look():
        figure = Figure(figsize=size, layout="constrained")
        display.plot(ax=figure.subplots())
        content = _save(figure, form)
    encoded = base64.b64encode(content).decode()
    kind = {SHARP: "svg+xml", DOTS: "png"}[form]
    return Picture(f"data:image/{kind};base64,{encoded}", alt, caption)


def _save(figure: Figure, form: str) -> bytes:
    stream = io.BytesIO()
    # Without dates and versions, the same fit gives the same file.
    metadata = {SHARP: {"Date": None, "Creator": None}, DOTS: {"Software": None}}
    figure.savefig(stream, format=form, dpi=DOTS_PER_INCH, metadata=metadata[form])
    return _reduce_colours(stream) if form == DOTS else stream.getvalue()


def _reduce_colours(stream: io.BytesIO) -> bytes:
    """Return a picture in 256 colours: nobody sees it, and it takes a third."""
    picture = Image.open(stream).convert("RGB")
    found = io.BytesIO()
    picture.quantize(256, dither=Image.Dither.NONE).save(found, "png", optimize=True)
    return found.getvalue()


@contextmanager
def _own_look() -> Iterator[None]:
    """Draw in matplotlib's own style, whatever the user has set."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams["svg.hashsalt"] = "cprime"
        # A name in letters the font does not have shows boxes; the tables have it.
        warnings.filterwarnings("ignore", "Glyph")
        yield
