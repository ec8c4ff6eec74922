"""Which rows are farthest from every cluster, and what is odd about them?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.advice.wording import SIGMA, count, decimals, listing, number, plain, signed
from cprime.plots.clusters import ask
from cprime.plots.mahalanobis import distances_to
from cprime.report.clusters import Fitted
from cprime.report.inputs import Scaling
from cprime.report.summary import Summary

# Columns that are named as odd, if they are so many standard deviations off.
MOST_NAMED, ODD = 3, 2.0
LONGEST_NAME = 24
# Keeps a number and its unit on one line.
SPACE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class OutlierLine:
    """What is shown of one row far from all clusters, all of it text."""

    row: str
    cluster: str
    distance: str
    density: str
    odd: str


def outlier_lines(
    fitted: Fitted,
    summary: Summary,
    data: Any,
    names: Sequence[str],
    scaling: Scaling,
) -> list[OutlierLine]:
    """Return the rows farthest from their cluster, the farthest first.

    Parameters
    ----------
    fitted : Fitted
    summary : Summary
    data : Data
    names : sequence of str
    scaling : Scaling
    """
    numbers = summary.outliers[summary.outliers >= 0]
    if not len(numbers):
        return []
    values = data.take(numbers)
    rows = scaling.for_fit(values)
    labels = ask(fitted.estimator.predict, rows)
    distances = np.sqrt(distances_to(fitted.clusters, labels, rows))
    densities = ask(fitted.estimator.score_samples, rows)
    shown = scaling.for_user(values)
    # Along each column, in standard deviations of the cluster there.
    sigmas = np.sqrt(fitted.clusters.variances())[labels]
    off = (rows - fitted.clusters.means[labels]) / sigmas
    lines = []
    for i, row in enumerate(numbers):
        worst = np.argsort(-np.abs(off[i]), kind="stable")[:MOST_NAMED]
        odd = [
            f"{plain(names[d], LONGEST_NAME)} = {number(float(shown[i, d]))} "
            f"({signed(off[i, d])}{SPACE}{SIGMA})"
            for d in worst
            if abs(off[i, d]) >= ODD
        ]
        lines.append(
            OutlierLine(
                row=count(row),
                cluster=str(labels[i]),
                distance=f"{number(float(distances[i]))}{SPACE}{SIGMA}",
                density=decimals(densities[i], 2),
                odd=listing(odd) or "no single column, but all together",
            )
        )
    return lines
