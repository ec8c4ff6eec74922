"""Which rows stand for a cluster, and which lie at its border?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.advice.wording import brief, count, number, share
from cprime.report.clusters import Fitted
from cprime.report.inputs import Scaling
from cprime.report.summary import Summary, posterior
from cprime.typing import Array

# Values of rows that are held at once.
VALUES = 2**21


@dataclass(frozen=True)
class Exemplar:
    """A row that is shown, all of it text.

    Attributes
    ----------
    kind : {"typical", "border"}
    row : str
        Its number.
    own : str
        The probability of its own cluster.
    other : str
        The cluster it would belong to next, and that one's.
    values : list of str
        In the columns that are shown.
    """

    kind: str
    row: str
    own: str
    other: str
    values: list[str]


def exemplars(
    fitted: Fitted,
    summary: Summary,
    data: Any,
    scaling: Scaling,
    chosen: Array,
    columns: Array,
) -> dict[int, list[Exemplar]]:
    """Return rows for some clusters: those next to the centre, then at the border.

    Parameters
    ----------
    fitted : Fitted
    summary : Summary
    data : Data
    scaling : Scaling
    chosen : ndarray
        Clusters to find rows for.
    columns : ndarray of shape (C, any)
        The columns shown of each.
    """
    wanted = [
        (int(c), kind, int(row))
        for c in chosen
        for kind, rows in (("typical", summary.typical), ("border", summary.border))
        for row in rows[c]
        # A row of a tiny cluster may be both.
        if row >= 0 and not (kind == "border" and row in summary.typical[c])
    ]
    at_once = max(1, VALUES // max(1, data.n_features))
    found: dict[int, list[Exemplar]] = {int(c): [] for c in chosen}
    for start in range(0, len(wanted), at_once):
        part = wanted[start : start + at_once]
        rows = data.take(np.array([row for _, _, row in part]))
        odds = _odds(fitted, scaling.for_fit(rows))
        values = scaling.for_user(rows)
        for (c, kind, row), (own, other), shown in zip(part, odds, values):
            cells = [number(float(value)) for value in shown[columns[c]]]
            found[c].append(Exemplar(kind, count(row), own, other, cells))
    return found


def _odds(fitted: Fitted, rows: Array) -> list[tuple[str, str]]:
    """Return the probability of a row's own cluster, and that of the next."""
    K, q, beyond = posterior(fitted, rows, min(fitted.shape[0], 2))
    if K.shape[1] == 1:
        return [(share(1.0), "")] * len(rows)
    q = q / (1.0 + beyond[:, None])
    own = np.argmax(q, axis=1)
    return [
        (brief(share(p[i])), f"{k[1 - i]} ({brief(share(p[1 - i]))})")
        for k, p, i in zip(K, q, own)
    ]
