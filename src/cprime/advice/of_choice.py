"""How many clusters are there, and how sure is that?

Functions from numbers to sentences.
"""

from collections.abc import Mapping, Sequence

from cprime.advice.verdicts import Finding
from cprime.advice.wording import count, either, listing, number
from cprime.selection.criteria import NO_EVIDENCE

TITLES = {
    "bic_free_energy": "BIC on F",
    "icl": "ICL",
    "bic": "BIC",
    "held_out": "held-out likelihood",
    "modes": "modes",
}
WORDS = {
    "isotropic": "spherical clusters of equal size",
    "spherical": "spherical clusters, each of its own size",
    "diag": "clusters stretched along the columns",
    "tied": "elongated clusters of one shape",
    "full": "elongated clusters, each of its own shape",
}

# Fewer for every parameter of a mixture are few.
FEW_ROWS = 3


def clusters_of(n_clusters: int, shape: str) -> str:
    """Return '3 spherical clusters of equal size'."""
    return f"{n_clusters:,} {WORDS[shape]}"


def how_many(
    n_clusters: int, shape: str, plausible: Sequence[int], most_parts: int = 1
) -> Finding:
    """Say how many clusters there are, and which numbers are about as good.

    Parameters
    ----------
    n_clusters : int
    shape : str
        The `covariance_type`.
    plausible : sequence of int
        Numbers that the evidence does not rule out, the chosen one included.
    most_parts : int, default=1
        The largest number that any criterion prefers.
    """
    others = [number for number in plausible if number != n_clusters]
    if n_clusters == 1:
        headline = "No cluster structure: one cluster describes these rows best."
        text = "More clusters do not explain enough to justify their parameters."
        if most_parts > 1:
            text = "With more clusters, some have no valley between them."
    else:
        headline = f"{clusters_of(n_clusters, shape)}."
        text = "No other number comes close."
    if others:
        text = about_as_good(others)
    return Finding("fair" if others else "good", headline, text)


def about_as_good(others: Sequence[int]) -> str:
    """Return '14 and 16 are about as good.', or nothing."""
    if not others:
        return ""
    return f"{_numbers(others)} {either(len(others), 'is', 'are')} about as good."


def agreement(says: Mapping[str, int]) -> Finding | None:
    """Say what it means that criteria disagree, if they do, without their names.

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
        seen = f"in {count(groups, 'group')} with valleys between them: some are"
        if groups == 1:
            seen = "with no valley between them: it is one group that is"
        return Finding(
            "fair",
            f"{count(components, 'Gaussian')}, but only {count(groups, 'group')}.",
            f"How dense the rows are takes {components:,} Gaussians to describe, "
            f"{seen} not Gaussian, or with heavy tails.",
        )
    assigned, apart = says["bic_free_energy"], min(says["icl"], groups)
    if apart < assigned:
        clear = f"only {apart:,} are clearly apart"
        if apart == 1:
            clear = "none is clearly apart from the others"
        return Finding(
            "fair",
            "Some groups overlap.",
            f"Rows can be assigned to {count(assigned, 'group')}, but {clear}.",
        )
    return Finding(
        "fair",
        "Some groups overlap.",
        f"There are {min(says.values()):,} to {max(says.values()):,} of them, "
        "depending on how much overlap counts.",
    )


def few_rows(n_clusters: int, n_rows: float, n_parameters: int) -> Finding | None:
    """Say that rows are few for so many parameters, if they are."""
    if n_clusters == 1 or n_rows >= FEW_ROWS * n_parameters:
        return None
    return Finding(
        "fair",
        "The rows are few.",
        f"There are fewer than {FEW_ROWS} for every parameter of these clusters, so "
        "another sample could show another number.",
    )


def by_number(says: Mapping[str, int]) -> str:
    """Return '3 by BIC on F, ICL and BIC; 2 by modes'."""
    numbers = sorted({*says.values()}, key=list(says.values()).index)
    return "; ".join(
        f"{number:,} by "
        + listing([TITLES[name] for name in says if says[name] == number])
        for number in numbers
    )


def at_the_limit(max_clusters: int) -> Finding:
    """Warn of a search that ended because it was not allowed to go on."""
    return Finding(
        "poor",
        "The search stopped at max_clusters.",
        f"More than the {max_clusters:,} allowed might be better: raise max_clusters "
        "to search further.",
    )


def against_one(n_clusters: int, bic: float, bic_of_one: float) -> Finding:
    """Say whether clusters describe their rows better than one cluster would.

    Parameters
    ----------
    n_clusters : int
    bic, bic_of_one : float
        Of the clusters, and of one cluster of the same shape; lower is better.
    """
    ahead = bic_of_one - bic
    look = "AutoMixture (cprime choose) estimates how many there are."
    values = f"BIC is {number(bic)} for {n_clusters:,} and {number(bic_of_one)} for one"
    if ahead <= 0:
        return Finding(
            "poor",
            "One cluster describes these rows better.",
            f"{values}, and lower is better: these {n_clusters:,} divide rows that may "
            f"be one group. {look}",
        )
    if ahead < NO_EVIDENCE:
        return Finding(
            "fair",
            "One cluster describes these rows about as well.",
            f"{values}: a difference below {NO_EVIDENCE:g} is no evidence. {look}",
        )
    return Finding(
        "good",
        f"{count(n_clusters, 'cluster')} describe these rows better than one.",
        f"{values}, and lower is better. AutoMixture (cprime choose) tells whether "
        "another number is better still.",
    )


def fewer(n_clusters: int, n_better: int, n_looked_at: int, n_rows: int) -> Finding:
    """Say that fewer clusters describe their rows better.

    Parameters
    ----------
    n_clusters : int
    n_better : int
        A number that BIC prefers, of clusters of the same shape.
    n_looked_at, n_rows : int
        Rows this rests on, of so many.
    """
    where = ""
    if n_looked_at < n_rows:
        where = f" in a sample of {count(n_looked_at, 'row')}"
    return Finding(
        "fair",
        f"Fewer clusters describe these rows better: {n_better:,} instead of "
        f"{n_clusters:,}.",
        f"BIC prefers {count(n_better, 'cluster')} of this shape to {n_clusters:,}"
        f"{where}. If you need {n_clusters:,} groups of similar rows all the same, "
        "keep them. AutoMixture (cprime choose) looks at other numbers and shapes.",
    )


def other_shape(n_clusters: int, n_better: int, shape: str) -> Finding:
    """Say that clusters of another shape describe their rows better.

    Parameters
    ----------
    n_clusters : int
        No better than one, with the shape they have.
    n_better : int
    shape : str
        The `covariance_type` with which so many are better than one.
    """
    return Finding(
        "fair",
        "Clusters of another shape describe these rows better.",
        f"Of the shape that was fitted, one cluster is as good as these {n_clusters:,} "
        f"by BIC. But there are {clusters_of(n_better, shape)}: AutoMixture (cprime "
        "choose) finds and fits them.",
    )


def scaling(n_clusters: int, n_standardised: int) -> Finding:
    """Say whether the number of clusters depends on the scales of the columns.

    Parameters
    ----------
    n_clusters : int
        As columns are.
    n_standardised : int
        After each was divided by its standard deviation.
    """
    if n_clusters == n_standardised:
        return Finding(
            "good",
            "Scaling does not change the answer:",
            f"standardised, it would be {n_standardised:,} too.",
        )
    return Finding(
        "fair",
        "The answer depends on scaling:",
        f"standardised, it would be {n_standardised:,}. Standardise columns that are "
        "in different units.",
    )


def interrupted() -> Finding:
    """Say that the search did not come to its end."""
    return Finding(
        "poor",
        "The search was interrupted.",
        "This is the best of the fits tried so far.",
    )


def sampled(n_looked_at: int, n_rows: int, finished: bool = True) -> Finding:
    """Say that the search looked at a sample, and that all rows judged in the end."""
    if not finished:
        return Finding(
            "fair",
            f"{count(n_looked_at)} of {count(n_rows, 'row')} were searched.",
            "The final comparison on all rows was not reached.",
        )
    return Finding(
        "good",
        f"{count(n_looked_at)} of {count(n_rows, 'row')} were searched.",
        "The best fits to a random sample were fitted again to all rows and compared "
        "on them.",
    )


def _numbers(found: Sequence[int]) -> str:
    """Return '3', '3 and 5', or '14 to 16'."""
    low, high = min(found), max(found)
    if len(found) > 2 and high - low == len(found) - 1:
        return f"{low:,} to {high:,}"
    return listing([f"{number:,}" for number in found])
