"""What about a fit should a user be warned of?

Every function here takes plain numbers and returns a `Finding`, or None if all is well.
"""

import math
from collections.abc import Sequence

from cprime.advice.verdicts import Finding
from cprime.advice.wording import clusters, count, either, listing, share

# A cluster of fewer rows is tiny, unless clusters of this size are what was asked for.
FEWEST_ROWS = 10
# ... which they are if an even division would make them not much larger.
EVEN_SHARE = 0.1
# A cluster with more of the rows leaves the others next to nothing.
DOMINATING = 0.9
# Clusters that overlap by more are nearly the same: if round and alike, their centres
# are less than half a standard deviation apart.
COINCIDENT = 0.97
# A variance of less, as a share of that of all rows, is that of a point.
POINT = 1e-18


def unconverged(converged: bool | None, n_iter: int, max_iter: int) -> Finding | None:
    """Warn of a fit that was stopped before it had settled."""
    if converged or converged is None:
        return None
    if n_iter < max_iter:
        return Finding(
            "poor",
            "The fit was interrupted.",
            f"It had not converged after {count(n_iter, 'iteration')} of at most "
            f"{max_iter:,}: let it run to the end.",
        )
    return Finding(
        "poor",
        "The fit has not converged.",
        f"It was stopped after {count(n_iter, 'iteration')} of at most {max_iter:,}. "
        "Raise max_iter, or loosen tol if the last iterations gain next to nothing.",
    )


def empty_clusters(sizes: Sequence[int]) -> Finding | None:
    """Warn of clusters that are no row's closest."""
    empty = [c for c, size in enumerate(sizes) if size == 0]
    if not empty:
        return None
    return Finding(
        "poor",
        f"{count(len(empty))} of {count(len(sizes), 'cluster')} "
        f"{either(len(empty), 'is', 'are')} empty.",
        f"No row is closest to {clusters(empty)}. Rows may be duplicates, or fewer "
        "clusters are enough.",
    )


def tiny_clusters(sizes: Sequence[int], needed: int = 0) -> Finding | None:
    """Warn of clusters with too few rows to be trusted.

    Parameters
    ----------
    sizes : sequence of int
        Rows of every cluster.
    needed : int, default=0
        Rows without which a cluster's own covariance cannot be estimated.
    """
    fewest = max(min(FEWEST_ROWS, math.ceil(EVEN_SHARE * sum(sizes) / len(sizes))), 2)
    limit = max(fewest, needed)
    tiny = [c for c, size in enumerate(sizes) if 0 < size < limit]
    if not tiny:
        return None
    unknowable = needed > fewest
    why = (
        "A covariance of its own cannot be estimated from so few: use fewer clusters "
        "or a simpler covariance_type."
        if unknowable
        else "Such a cluster may be outliers rather than a group: look at its rows."
    )
    return Finding(
        "poor" if unknowable else "fair",
        f"{count(len(tiny))} of {count(len(sizes), 'cluster')} "
        f"{either(len(tiny), 'has', 'have')} fewer than {count(limit, 'row')}.",
        f"{either(len(tiny), 'It is', 'They are')} {clusters(tiny)}. {why}",
    )


def dominating_cluster(sizes: Sequence[int]) -> Finding | None:
    """Warn if one cluster holds nearly all rows."""
    largest, total = max(sizes), sum(sizes)
    if len(sizes) < 3 or largest < DOMINATING * total:
        return None
    return Finding(
        "poor",
        f"Cluster {list(sizes).index(largest)} holds {share(largest, total)} of all "
        "rows.",
        "The others have almost no rows. A few extreme values may dominate the fit: "
        "look at the outliers and at the scales of the columns.",
    )


def relocated(n_relocations: int) -> Finding | None:
    """Say that clusters had to be moved because no row was left to them."""
    if not n_relocations:
        return None
    times = "once" if n_relocations == 1 else f"{count(n_relocations)} times"
    return Finding(
        "fair",
        f"A cluster lost all its rows {times} during the fit.",
        "It was moved to the worst-fitting row each time. That is harmless, but often "
        "a sign of duplicate rows or of more clusters than the data have.",
    )


def collapsed(n_floored: int, C: int) -> Finding | None:
    """Warn of clusters whose variance is at its floor."""
    if not n_floored:
        return None
    return Finding(
        "poor",
        f"{count(n_floored)} of {count(C, 'cluster')} "
        f"{either(n_floored, 'is', 'are')} as narrow as allowed.",
        "A variance was clipped at its floor, so the likelihood depends on that "
        "floor. Drop constant or duplicate columns, use fewer clusters or a simpler "
        "covariance_type, or set reg_covar.",
    )


def points(variance: float, spread: float) -> Finding | None:
    """Warn of clusters that have become points.

    Parameters
    ----------
    variance : float
        Of all clusters.
    spread : float
        Variance of all rows, in the same units.
    """
    if variance > POINT * spread > 0.0:
        return None
    return Finding(
        "poor",
        "The clusters have no width.",
        "Every row lies on its centre, or nearly so: the likelihood is that of the "
        "smallest variance float64 can hold. Rows are duplicates, or fewer clusters "
        "are enough.",
    )


def coincident_clusters(
    pairs: Sequence[tuple[int, int]], overlap: float
) -> Finding | None:
    """Warn of clusters that are nearly one.

    Parameters
    ----------
    pairs : sequence of (int, int)
        Clusters that overlap by more than `COINCIDENT`.
    overlap : float
        Of the closest two.
    """
    if not pairs:
        return None
    named = listing([f"{a} with {b}" for a, b in pairs])
    return Finding(
        "poor",
        f"{count(len(pairs), 'pair')} of clusters nearly "
        f"{either(len(pairs), 'coincides', 'coincide')}.",
        f"Compare {named}: the closest two overlap by {share(overlap)}. Fewer "
        "clusters are enough.",
    )


def few_rows(n_rows: int, n_parameters: int) -> Finding | None:
    """Warn of more parameters than rows."""
    if n_parameters <= n_rows:
        return None
    return Finding(
        "poor",
        "There are more parameters than rows.",
        f"{count(n_parameters)} numbers were estimated from {count(n_rows, 'row')}: "
        "the model may be overfitted. Use fewer clusters or a simpler "
        "covariance_type, and check the likelihood of held-out rows.",
    )
