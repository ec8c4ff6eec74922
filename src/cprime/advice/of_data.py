"""What about the rows of a fit should a user be warned of?

Every function here takes plain numbers and returns a `Finding`, or None if all is well.
Names of columns come in ready to be shown: see `wording.plain`.
"""

import math
from collections.abc import Sequence

from cprime.advice.verdicts import Finding
from cprime.advice.wording import count, either, listing, nats, number, share

# With less of the largest variance, a column hardly counts for spherical clusters.
NEGLIGIBLE = 1e-3
# With more of the variance of all columns together, one decides alone.
DECISIVE = 0.95
EQUALIZE = (
    "standardise the columns first, or use covariances that adapt (GaussianMixture, "
    "'diag' or 'full')."
)
LEAVE_OUT = "Leave such columns out."
# A value so many standard deviations away draws a cluster to itself.
EXTREME = 30.0
# Beyond the distance where one row in a thousand is expected, so many times as many.
MANY_OUTLIERS = 10.0
# Log-likelihoods of the same rows under the same parameters agree to this.
SAME_LIKELIHOOD = 1e-4
# ... and to so many standard errors, where one is estimated from a sample.
STANDARD_ERRORS = 5.0
# ... and those of similar rows to this.
NEARLY_SAME = 0.05


def unequal_scales(
    names: Sequence[str],
    spreads: Sequence[float],
    round_clusters: bool,
    remedy: str = EQUALIZE,
) -> Finding | None:
    """Warn of columns that outweigh others, when clusters are round.

    Parameters
    ----------
    names : sequence of str
    spreads : sequence of float
        Standard deviation of every column as the fit has seen it.
    round_clusters : bool
        Whether the model measures all columns with one yardstick.
    remedy : str, optional
        What to do about it; by default in terms of Python.
    """
    varying = [(s, i) for i, s in enumerate(spreads) if s > 0 and math.isfinite(s)]
    if not round_clusters or len(varying) < 2:
        return None
    (small, last), (large, first) = min(varying), max(varying)
    shares = [(s / large) ** 2 for s, _ in varying]
    n_negligible = sum(share < NEGLIGIBLE for share in shares)
    if 2 * n_negligible < len(varying):
        # A few nearly constant columns, such as the edges of images, are no reason.
        return None
    alone = DECISIVE * sum(shares) < 1.0
    decides = f"Unless '{names[first]}' is meant to decide"
    condition = decides if alone else "If all columns should count"
    return Finding(
        "poor" if alone else "fair",
        "Columns have very different scales.",
        f"'{names[first]}' has a standard deviation of {number(large)}, "
        f"'{names[last]}' of {number(small)}: {n_negligible} of {len(varying)} columns "
        f"hardly count for spherical clusters. {condition}, {remedy}",
    )


def row_numbers(names: Sequence[str], remedy: str = LEAVE_OUT) -> Finding | None:
    """Warn of columns that only count the rows."""
    if not names:
        return None
    named = listing([f"'{name}'" for name in names])
    return Finding(
        "poor",
        f"{count(len(names), 'column')} "
        f"{either(len(names), 'is a row number', 'are row numbers')}.",
        f"{named} {either(len(names), 'rises', 'rise')} by one from row to row: "
        f"clusters would only be runs of consecutive rows. {remedy}",
    )


def identifiers(names: Sequence[str], remedy: str = LEAVE_OUT) -> Finding | None:
    """Say which columns look like identifiers of rows."""
    if not names:
        return None
    named = listing([f"'{name}'" for name in names])
    return Finding(
        "fair",
        f"{count(len(names), 'column')} may be {either(len(names), 'an id', 'ids')}.",
        f"{named} {either(len(names), 'holds', 'hold')} integers that only rise "
        "from row to row. Unless that is a measurement: "
        f"{remedy[0].lower()}{remedy[1:]}",
    )


def constant_columns(names: Sequence[str], spreads: Sequence[float]) -> Finding | None:
    """Say which columns never change."""
    constant = [f"'{name}'" for name, spread in zip(names, spreads) if spread == 0.0]
    if not constant:
        return None
    return Finding(
        "fair",
        f"{count(len(constant), 'column')} never "
        f"{either(len(constant), 'changes', 'change')}.",
        f"{listing(constant)} cannot tell rows apart: leave "
        f"{either(len(constant), 'it', 'them')} out.",
    )


def extreme_values(
    names: Sequence[str], deviations: Sequence[float], rows: Sequence[int]
) -> Finding | None:
    """Warn of single values far away from all others of their column.

    Parameters
    ----------
    names : sequence of str
    deviations : sequence of float
        Of every column: how many standard deviations its farthest value is away.
    rows : sequence of int
        Where that value is.
    """
    found = [(d, i) for i, d in enumerate(deviations) if d > EXTREME]
    if not found:
        return None
    worst, column = max(found)
    more = f" {count(len(found))} columns have such values." if len(found) > 1 else ""
    return Finding(
        "fair",
        "Some values are extremely far from the rest.",
        f"In row {rows[column]:,}, '{names[column]}' is {number(worst)} standard "
        f"deviations from its mean.{more} Such a value can get a cluster of its own: "
        "check it, or clip or transform the column.",
    )


def outliers(n_beyond: int, n_rows: int, expected: float = 0.001) -> Finding | None:
    """Warn if many more rows lie far from their cluster than Gaussians would have.

    Parameters
    ----------
    n_beyond : int
        Rows beyond the distance that a share of `expected` rows would exceed.
    n_rows : int
    expected : float, default=0.001
    """
    if n_beyond <= max(MANY_OUTLIERS * expected * n_rows, 3.0):
        return None
    return Finding(
        "fair",
        f"{share(n_beyond, n_rows)} of the rows are outliers.",
        f"{count(n_beyond, 'row')} lie farther from their cluster than "
        f"{share(1.0 - expected)} of a Gaussian's rows would. Either they are "
        "unusual, or the clusters have another shape or heavier tails than the model "
        "assumes: other covariances, more clusters or transformed columns may fit "
        "better.",
    )


def missing_values(n_missing: int, n_values: int) -> Finding | None:
    """Say how much is missing."""
    if not n_missing:
        return None
    return Finding(
        "fair",
        f"{share(n_missing, n_values)} of all values are missing.",
        "Each row is used with the values it has; nothing was imputed. That is valid "
        "if values are missing at random.",
    )


def other_rows(
    likelihood: float, of_fit: float | None, standard_error: float = 0.0
) -> Finding | None:
    """Say that these are not the rows the clusters were fitted to, as they were.

    Parameters
    ----------
    likelihood, of_fit : float
        Log-likelihood of these rows and of those of the fit, in nats per row.
    standard_error : float, default=0.0
        Of that of the fit.
    """
    if of_fit is None or not math.isfinite(likelihood):
        return None
    uncertain = STANDARD_ERRORS * standard_error
    if abs(likelihood - of_fit) <= SAME_LIKELIHOOD * max(1.0, abs(of_fit)) + uncertain:
        return None
    alike = abs(likelihood - of_fit) <= NEARLY_SAME * max(1.0, abs(of_fit))
    return Finding(
        "fair" if alike else "poor",
        f"These are not {'exactly ' if alike else ''}the rows the model was fitted to.",
        f"Their log-likelihood is {nats(likelihood)} nats per row, that of the fit was "
        f"{nats(of_fit)}. Either the rows are different, or rows had weights, "
        "or columns were scaled differently. Sizes, gaps and outliers below refer to "
        "these rows.",
    )
