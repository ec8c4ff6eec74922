"""How many clusters are there, and how sure is that?

Functions from numbers to sentences.
"""

from collections.abc import Mapping, Sequence

from cprime.advice.verdicts import Finding
from cprime.advice.wording import count, listing

WORDS = {
    "isotropic": "round clusters of one size",
    "spherical": "round clusters, each of its own size",
    "diag": "clusters stretched along the columns",
    "tied": "clusters of one elongated shape",
    "full": "clusters of any elongated shape",
}


def how_many(n_clusters: int, shape: str, plausible: Sequence[int]) -> Finding:
    """Say how many clusters there are, and which numbers are about as good.

    Parameters
    ----------
    n_clusters : int
    shape : str
        The `covariance_type`.
    plausible : sequence of int
        Numbers that the evidence does not rule out, the chosen one included.
    """
    others = [number for number in plausible if number != n_clusters]
    if n_clusters == 1:
        headline = "No cluster structure: one cluster describes these rows best."
        text = "Any division into more explains less than its parameters cost."
    else:
        headline = f"{count(n_clusters, 'cluster')}: {WORDS[shape]}."
        text = "No other number comes near."
    if others:
        text = (
            f"{_numbers(others)} {'is' if len(others) == 1 else 'are'} about as good."
        )
    return Finding("fair" if others else "good", headline, text)


def agreement(says: Mapping[str, int]) -> Finding | None:
    """Say what it means that criteria disagree, if they do.

    Parameters
    ----------
    says : mapping
        Number of clusters by "bic", "icl", "bic_free_energy" and "modes", the groups of
        the mixture that BIC prefers.
    """
    components, groups = says["bic"], says["modes"]
    if len(set(says.values())) == 1:
        return None
    if components > groups:
        verb = "is" if groups == 1 else "are"
        return Finding(
            "fair",
            f"{count(components, 'Gaussian')}, but only {count(groups, 'group')}.",
            f"BIC sees {count(components, 'component')} where there {verb} "
            f"{count(groups, 'group')} with a valley between them: the groups are "
            "not Gaussian, or one has tails. Components describe the density; groups "
            "are what labels can stand for.",
        )
    told = listing([f"{name} says {number}" for name, number in says.items()])
    return Finding(
        "fair",
        "Criteria do not agree.",
        f"{told}. BIC counts the parts of a density, ICL groups that rows can be "
        "assigned to without doubt, modes the peaks.",
    )


def at_the_limit(max_clusters: int) -> Finding:
    """Warn of a search that ended because it was not allowed to go on."""
    return Finding(
        "poor",
        "The search ended at max_clusters.",
        f"It might have gone on beyond the {max_clusters:,} that were allowed: raise "
        "max_clusters to look further.",
    )


def interrupted() -> Finding:
    """Say that the search did not come to its end."""
    return Finding(
        "poor",
        "The search was interrupted.",
        "This is the best of what it had tried.",
    )


def sampled(n_looked_at: int, n_rows: int) -> Finding:
    """Say that the search looked at a sample."""
    return Finding(
        "good",
        f"{count(n_looked_at)} of {count(n_rows, 'row')} were searched.",
        "The best fits to a random sample were fitted to all rows, and judged by them.",
    )


def _numbers(found: Sequence[int]) -> str:
    """Return '3', '3 and 5', or '14 to 16'."""
    low, high = min(found), max(found)
    if len(found) > 2 and high - low == len(found) - 1:
        return f"{low:,} to {high:,}"
    return listing([f"{number:,}" for number in found])
