"""How does a report show clusters: a line each, and rows that stand for them?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cprime.advice.cluster_names import cluster_name
from cprime.advice.wording import brief, count, number, plain, share
from cprime.kernels.tensors import from_gpu
from cprime.plots import ProfileDisplay
from cprime.report.clusters import Fitted
from cprime.report.exemplars import Exemplar, exemplars
from cprime.report.inputs import Scaling
from cprime.report.summary import Summary
from cprime.typing import Array

# Of very many clusters, the largest have a line each.
MOST_LINES = 500
# Features that tell a cluster apart, as columns of its rows.
COLUMNS = 6
LONGEST_NAME = 24
NOTHING = "\N{EN DASH}"


@dataclass(frozen=True)
class ClusterLine:
    """What is shown of one cluster, all of it text but for its number and a bar.

    Attributes
    ----------
    bar : float
        Its size, in percent of the largest.
    name : str
        What sets it apart, in words, with values.
    columns : list of str
        Names of the columns in which its centre and exemplars are shown.
    """

    number: int
    size: str
    share: str
    bar: float
    sigma: str
    confidence: str
    ambiguous: str
    nearest: str
    overlap: str
    name: str
    columns: list[str]
    centre: list[str]
    exemplars: list[Exemplar]


@dataclass(frozen=True)
class ClusterTable:
    """The lines of a table of clusters, largest first.

    Attributes
    ----------
    lines : list of ClusterLine
    n_clusters : int
        Clusters, with a line or without.
    n_detailed : int
        Of so many, the largest, rows are shown.
    what_sigma : str
        What the column of sigmas holds.
    """

    lines: list[ClusterLine]
    n_clusters: int
    n_detailed: int
    what_sigma: str

    @property
    def knows_sizes(self) -> bool:
        """Whether it is known how many rows clusters have."""
        return any(line.size != NOTHING for line in self.lines)

    def shorten(self) -> "ClusterTable":
        """Return a table that shows rows of half as many clusters."""
        n = self.n_detailed // 2
        lines = [
            line if i < n else replace(line, columns=[], centre=[], exemplars=[])
            for i, line in enumerate(self.lines)
        ]
        return replace(self, lines=lines, n_detailed=n)


def sizes_of(fitted: Fitted, summary: Summary | None) -> Array | None:
    """Return the rows of every cluster, shape (C,), if anybody knows."""
    if summary is not None:
        return summary.sizes
    labels = getattr(fitted.estimator, "labels_", None)
    if labels is None:
        return None
    return np.bincount(from_gpu(labels), minlength=fitted.shape[0])


def shares_of(fitted: Fitted, summary: Summary | None) -> Array:
    """Return the share of the rows of every cluster, shape (C,), as best one knows."""
    sizes = sizes_of(fitted, summary)
    if sizes is None:
        return fitted.clusters.proportions
    shares: Array = sizes / max(int(sizes.sum()), 1)
    return shares


def profile_of(fitted: Fitted, summary: Summary | None, scaling: Scaling) -> Array:
    """Return how far centres are from all rows, in their spreads, shape (C, D).

    Without rows, from those the mixture would have.
    """
    if summary is None:
        return ProfileDisplay.from_estimator(fitted.estimator).profile
    spread = np.where(summary.columns.spreads > 0, summary.columns.spreads, np.inf)
    centers = scaling.undo(fitted.clusters.means)
    profile: Array = np.nan_to_num((centers - summary.columns.means) / spread)
    return profile


def cluster_table(
    fitted: Fitted,
    summary: Summary | None,
    data: Any,
    names: Sequence[str],
    scaling: Scaling,
) -> ClusterTable:
    """Return what is shown of the clusters.

    Parameters
    ----------
    fitted : Fitted
    summary : Summary, optional
    data : Data, optional
        Where the rows are that stand for a cluster.
    names : sequence of str
    scaling : Scaling
    """
    C = fitted.shape[0]
    profile = profile_of(fitted, summary, scaling)
    centers = scaling.undo(fitted.clusters.means)
    sizes, shares = sizes_of(fitted, summary), shares_of(fitted, summary)
    order = np.argsort(-shares, kind="stable")[:MOST_LINES]
    # Columns of a cluster's rows: those that tell it apart, in their own order.
    telling = np.argsort(-np.abs(profile), axis=1, kind="stable")
    columns = np.sort(telling[:, :COLUMNS], axis=1)
    rows: dict[int, list[Exemplar]] = {}
    if summary is not None:
        rows = exemplars(fitted, summary, data, scaling, order, columns)
    sigmas, what_sigma = _sigmas(fitted, summary)
    overlap = fitted.overlap()
    lines = [
        ClusterLine(
            number=int(c),
            size=NOTHING if sizes is None else count(sizes[c]),
            share=brief(share(shares[c])),
            bar=round(float(100.0 * shares[c] / shares.max()), 1),
            sigma=number(sigmas[c]),
            **_certainty(summary, c),
            nearest=str(fitted.nearest[c]) if C > 1 else NOTHING,
            overlap=brief(share(overlap[c])) if C > 1 else NOTHING,
            name=cluster_name(names, profile[c].tolist(), centers[c].tolist()),
            columns=[plain(names[d], LONGEST_NAME) for d in columns[c]],
            centre=[number(value) for value in centers[c, columns[c]]],
            exemplars=rows.get(int(c), []),
        )
        for c in order
    ]
    return ClusterTable(lines, C, len(lines), what_sigma)


def _sigmas(fitted: Fitted, summary: Summary | None) -> tuple[Array, str]:
    """Return a standard deviation for every cluster, and what it is."""
    sigmas = fitted.sigmas()
    if not fitted.are_alike:
        what = "standard deviation of a cluster, the geometric mean over all directions"
        return sigmas, what
    if summary is None:
        return sigmas, "standard deviation of every cluster, the same for all"
    return sigmas * np.sqrt(summary.squares), (
        "standard deviation of a cluster's rows about its centre, per column (the "
        f"model has {number(sigmas[0])} for all)"
    )


def _certainty(summary: Summary | None, c: int) -> dict[str, str]:
    if summary is None or not summary.sizes[c]:
        return {"confidence": NOTHING, "ambiguous": NOTHING}
    return {
        "confidence": brief(share(summary.confidences[c])),
        "ambiguous": brief(share(summary.n_ambiguous[c], summary.sizes[c])),
    }
