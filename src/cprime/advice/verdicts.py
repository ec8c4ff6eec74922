"""Are hard labels enough, which C' is enough, did the restarts agree?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cprime.advice.wording import count, listing, nats, share

# Below this many nats per row a loss does not matter: it is one percent of probability.
NEGLIGIBLE = 0.01
# From here on it does, for labels too.
CONSIDERABLE = 0.1
# A row is ambiguous if its own cluster has less of its probability: odds below 3 to 1.
AMBIGUOUS = 0.75


@dataclass(frozen=True)
class Finding:
    """Something to tell a user.

    Attributes
    ----------
    level : {"good", "fair", "poor", "unknown"}
        Nothing to do; good to know; worth acting on; not known.
    headline : str
        The answer, in one short sentence.
    text : str
        What it rests on, and what to do.
    """

    level: str
    headline: str
    text: str


def hard_assignment(
    gap: float | None, *, n_ambiguous: int | None = None, n_rows: int | None = None
) -> Finding:
    """Say whether rows may be given to their closest cluster alone.

    Parameters
    ----------
    gap : float, optional
        L - F at C' = 1 under the fitted parameters, in nats per row.
    n_ambiguous : int, optional
        Rows whose own cluster has less than `AMBIGUOUS` of their probability.
    n_rows : int, optional
        Of so many.
    """
    if gap is None:
        return Finding(
            "unknown",
            "How ambiguous the labels are is not known yet.",
            "This fit kept several clusters per row. Give the rows as well to measure "
            "what a single cluster per row would lose.",
        )
    lost = (
        f"Assigning every row to its closest cluster alone loses {nats(gap)} nats per "
        f"row: on (geometric) average that cluster has {share(math.exp(-gap))} of a "
        "row's probability."
    )
    counted = ""
    if n_ambiguous is not None and n_rows:
        lost += f" {_ambiguous(n_ambiguous, n_rows)}"
        counted = f"; {share(n_ambiguous, n_rows)} are ambiguous" * (n_ambiguous > 0)
    if gap < NEGLIGIBLE:
        clear = "Nearly all labels" if counted else "Labels"
        return Finding("good", f"{clear} are clear{counted}.", lost)
    if gap < CONSIDERABLE:
        advice = (
            "Labels are fine for most rows; for those between clusters, and for "
            "densities, keep several clusters per row."
        )
        return Finding("fair", f"Most labels are clear{counted}.", f"{lost} {advice}")
    advice = "Keep several clusters per row, and use probabilities instead of labels."
    return Finding(
        "poor", f"Hard labels lose information{counted}.", f"{lost} {advice}"
    )


def _ambiguous(n_ambiguous: int, n_rows: int) -> str:
    if n_ambiguous == 0:
        return "No row is ambiguous."
    verb = "is" if n_ambiguous == 1 else "are"
    return (
        f"{count(n_ambiguous, 'row')} ({share(n_ambiguous, n_rows)}) {verb} ambiguous "
        "(odds below 3 to 1)."
    )


def of_gap(gap: float, C_prime: int, C: int) -> Finding:
    """Say what the gap of a fit means, without a look at the rows.

    Parameters
    ----------
    gap : float
        L - F of the fit, in nats per row.
    C_prime, C : int
        Clusters a row keeps, of all.
    """
    if C_prime == C:
        text = "Every row keeps all clusters: nothing is left out."
        return Finding("good", text, "")
    if C_prime == 1:
        return hard_assignment(gap)
    if gap < NEGLIGIBLE:
        return Finding("good", f"C' = {C_prime} is enough here.", "")
    text = f"C' = {C_prime} is not enough here."
    return Finding("poor" if gap > CONSIDERABLE else "fair", text, "")


def recommended_c_prime(
    gaps: Mapping[int, float], threshold: float = NEGLIGIBLE
) -> int | None:
    """Return the smallest C' whose gap is below a threshold; None if none is.

    Parameters
    ----------
    gaps : mapping of int to float
        Nats per row lost at each C'; of one fit, or of a fit for each.
    threshold : float, default=0.01
        Nats per row that do not matter.
    """
    enough = [c_prime for c_prime, gap in gaps.items() if gap < threshold]
    return min(enough, default=None)


def which_c_prime(
    gaps: Mapping[int, float], C: int, fitted: int, threshold: float = NEGLIGIBLE
) -> Finding:
    """Say how many clusters rows should keep.

    Parameters
    ----------
    gaps : mapping of int to float
        Nats per row lost at each C', under the parameters of one fit.
    C : int
        Number of clusters.
    fitted : int
        The C' of that fit.
    threshold : float, default=0.01
    """
    if C == 1:
        return Finding("good", "Use C' = 1.", "There is only one cluster to keep.")
    if not gaps:
        return Finding(
            "unknown",
            "Which C' to use is not known yet.",
            "Give the rows as well to measure the gap of several C'.",
        )
    best = recommended_c_prime(gaps, threshold)
    if best is None and max(gaps) == 1:
        return Finding(
            "unknown",
            "Which C' to use is not known yet.",
            f"C' = 1 loses {nats(gaps[1])} nats per row, more than {threshold:g}. "
            "Give the rows as well to measure the gap of several C'.",
        )
    # What comes after the first that is enough tells nothing more.
    shown = [c for c in sorted(gaps) if best is None or c <= best]
    measured = listing([f"{nats(gaps[c])} at C' = {c}" for c in shown])
    rule = f"below {threshold:g} nats per row ({measured})"
    if best is None:
        tried = max(gaps)
        return Finding(
            "poor",
            f"Keep more than {tried} of the {C} clusters per row, or all.",
            f"No C' up to {tried} brings the gap {rule}. c_prime=None keeps all: EM.",
        )
    smallest = f"It is the smallest C' with a gap {rule}."
    if fitted == best:
        caution = ""
        if best == 1:
            caution = (
                " That is under these parameters: a fit with C' = 2 may end at better "
                "ones, so try it once."
            )
        return Finding("good", f"Use C' = {best}.", f"{smallest}{caution}")
    if fitted < best:
        return Finding(
            "poor" if gaps.get(fitted, math.inf) >= CONSIDERABLE else "fair",
            f"Use C' = {best}.",
            f"{smallest} This fit kept {fitted}: fit again with c_prime={best}.",
        )
    kept = "all clusters" if fitted == C else count(fitted, "cluster")
    return Finding(
        "good",
        f"C' = {best} is enough.",
        f"{smallest} This fit kept {kept} per row, which loses less still; "
        f"c_prime={best} may be faster.",
    )


def restarts(free_energies: Sequence[float] | None) -> Finding:
    """Say whether restarts ended alike.

    Parameters
    ----------
    free_energies : sequence of float, optional
        F of every restart, in nats per row. None if it was not recorded.
    """
    if free_energies is None or len(free_energies) == 0:
        return Finding(
            "unknown",
            "Whether restarts agree is not known.",
            "The restarts of this fit were not recorded.",
        )
    n = len(free_energies)
    if n == 1:
        return Finding(
            "unknown",
            "There was only one start.",
            "Another may find a better optimum: n_init=10 tries ten and keeps the "
            "best.",
        )
    best, worst = max(free_energies), min(free_energies)
    alike = sum(best - F < NEGLIGIBLE for F in free_energies)
    if alike == n:
        return Finding(
            "good",
            f"All {n} restarts agree.",
            f"They ended within {nats(best - worst)} nats per row of each other.",
        )
    others = f"The worst ended {nats(best - worst)} nats per row below the best."
    if alike == 1:
        return Finding(
            "poor",
            f"The best of {n} restarts was found only once.",
            f"No other came within {NEGLIGIBLE:g} nats per row of it, so there may be "
            f"better ones still: raise n_init. {others}",
        )
    return Finding(
        "fair",
        f"{alike} of {n} restarts agree.",
        f"They ended within {NEGLIGIBLE:g} nats per row of the best. {others}",
    )
