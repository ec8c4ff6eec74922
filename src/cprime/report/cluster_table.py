"""How does a report show clusters: a line each, and rows that stand for them?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import erfc

from cprime.advice.words import count, number, plain, share
from cprime.report.clusters import Clusters
from cprime.report.exemplars import Exemplar, exemplars
from cprime.report.rows import Scaling
from cprime.report.summary import Summary
from cprime.typing import Array

# Of very many clusters, the largest have a line each.
MOST_LINES = 500
# Features that tell a cluster apart: in its line, and as columns of its rows.
FEATURES, COLUMNS = 3, 6
# A centre this near to the mean of all rows, in spreads, is nothing special.
UNREMARKABLE = 0.25
# An overlap of less is none.
LEAST_OVERLAP = 1e-6
NOTHING = "\N{EN DASH}"


@dataclass(frozen=True)
class ClusterLine:
    """What is shown of one cluster, all of it text."""

    number: int
    size: str
    share: str
    bar: float
    sigma: str
    confidence: str
    torn: str
    nearest: str
    overlap: str
    features: list[tuple[str, str]]
    columns: list[str]
    centre: list[str]
    exemplars: list[Exemplar]


@dataclass(frozen=True)
class ClusterTable:
    """The lines of a table of clusters, largest first, and what they mean.

    Attributes
    ----------
    lines : list of ClusterLine
    left_out : int
        Smaller clusters that have no line.
    sigma : str
        What the column of sigmas is.
    overlap : str
        What the column of overlaps is.
    """

    lines: list[ClusterLine]
    left_out: int
    sigma: str
    overlap: str


@dataclass(frozen=True)
class Profile:
    """Where clusters differ from all rows.

    Attributes
    ----------
    centers : ndarray of shape (C, D)
        In a person's units.
    deviations : ndarray of shape (C, D)
        From the mean of all rows, in standard deviations of all rows.
    """

    centers: Array
    deviations: Array

    @classmethod
    def of(
        cls, clusters: Clusters, summary: Summary | None, scaling: Scaling
    ) -> "Profile":
        """Return it, by the spread of the rows or else of the mixture."""
        centers = scaling.undone(clusters.theta.means)
        if summary is None:
            mean, spread = clusters.spread()
            mean, spread = scaling.undone(mean), spread * scaling.scale
        else:
            mean, spread = summary.columns.means, summary.columns.spreads
        spread = np.where(spread > 0, spread, np.inf)
        return cls(centers, np.nan_to_num((centers - mean) / spread))


def sizes_of(
    estimator: Any, clusters: Clusters, summary: Summary | None
) -> Array | None:
    """Return the rows of every cluster, shape (C,), if anybody knows."""
    if summary is not None:
        return summary.sizes
    labels = getattr(estimator, "labels_", None)
    if labels is None:
        return None
    return np.bincount(labels, minlength=clusters.shape[0])


def cluster_table(
    estimator: Any,
    clusters: Clusters,
    summary: Summary | None,
    data: Any,
    names: Sequence[str],
    scaling: Scaling,
    n_detailed: int = MOST_LINES,
) -> ClusterTable:
    """Return what is shown of the clusters.

    Parameters
    ----------
    estimator : fitted estimator
    clusters : Clusters
    summary : Summary, optional
    data : Data, optional
        Where the rows are that stand for a cluster.
    names : sequence of str
    scaling : Scaling
    n_detailed : int
        Of so many clusters, the largest, such rows are shown.
    """
    C = clusters.shape[0]
    profile = Profile.of(clusters, summary, scaling)
    sizes = sizes_of(estimator, clusters, summary)
    shares = clusters.proportions() if sizes is None else sizes / max(sizes.sum(), 1)
    order = np.argsort(-shares, kind="stable")[:MOST_LINES]
    # Columns of a cluster's rows: those that tell it apart, in their own order.
    telling = np.argsort(-np.abs(profile.deviations), axis=1, kind="stable")
    columns = np.sort(telling[:, :COLUMNS], axis=1)
    rows: dict[int, list[Exemplar]] = {}
    if summary is not None:
        chosen = order[:n_detailed]
        rows = exemplars(estimator, summary, data, scaling, chosen, columns)
    facts = _Facts(clusters, summary)
    lines = [
        ClusterLine(
            number=int(c),
            size=NOTHING if sizes is None else count(sizes[c]),
            share=share(shares[c]),
            bar=round(float(100.0 * shares[c] / shares.max()), 1),
            sigma=number(facts.sigmas[c]),
            confidence=facts.confidence(c),
            torn=facts.torn(c),
            nearest=str(facts.nearest[c]) if C > 1 else NOTHING,
            overlap=facts.overlap(c),
            features=_features(profile.deviations[c], telling[c], names),
            columns=[plain(names[d], 24) for d in columns[c]],
            centre=[number(value) for value in profile.centers[c, columns[c]]],
            exemplars=rows.get(int(c), []),
        )
        for c in order
    ]
    return ClusterTable(lines, C - len(lines), facts.what_sigma, facts.what_overlap)


def _features(
    deviations: Array, telling: Array, names: Sequence[str]
) -> list[tuple[str, str]]:
    """Return names of features, and how many spreads above or below all rows."""
    return [
        (plain(names[d], 24), f"{deviations[d]:+.1f}".replace("-", "\N{MINUS SIGN}"))
        for d in telling[:FEATURES]
        if abs(deviations[d]) >= UNREMARKABLE
    ]


class _Facts:
    """Numbers about clusters, from rows where there are any."""

    def __init__(self, clusters: Clusters, summary: Summary | None):
        self.summary = summary
        self.sigmas = clusters.sigmas()
        self.nearest, self.away = clusters.nearest()
        self.leaks = np.zeros(len(self.nearest))
        self.what_sigma = (
            "standard deviation of a cluster, the geometric mean over all directions"
        )
        self.what_overlap = (
            "share of a cluster's rows that lie on its nearest one's side, by the model"
        )
        if summary is None:
            return
        self.what_overlap = (
            "the mean probability, over a cluster's rows, of the cluster they would "
            "rather belong to next"
        )
        if clusters.are_alike:
            model, self.sigmas = self.sigmas[0], self.sigmas * np.sqrt(summary.squares)
            self.what_sigma = (
                "standard deviation of a cluster's rows about its centre, per column "
                f"(the model has {number(model)} for all)"
            )
        for c in range(len(self.nearest)):
            start, stop = summary.leaks.indptr[c : c + 2]
            others, values = summary.leaks.indices[start:stop], summary.leaks.data
            values = np.where(others == c, 0.0, values[start:stop])
            if len(values) and values.max() > LEAST_OVERLAP:
                self.nearest[c] = others[np.argmax(values)]
                self.leaks[c] = values.max()

    def confidence(self, c: int) -> str:
        if self.summary is None or not self.summary.sizes[c]:
            return NOTHING
        return share(self.summary.confidences[c])

    def torn(self, c: int) -> str:
        if self.summary is None or not self.summary.sizes[c]:
            return NOTHING
        return share(self.summary.n_torn[c], self.summary.sizes[c])

    def overlap(self, c: int) -> str:
        if not np.isfinite(self.away[c]):
            return NOTHING
        if self.summary is None:
            return share(0.5 * float(erfc(self.away[c] / np.sqrt(8.0))))
        if not self.summary.sizes[c]:
            return NOTHING
        return share(self.leaks[c]) if self.leaks[c] else "none"
