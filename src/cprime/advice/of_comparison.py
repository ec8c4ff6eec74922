"""Of fits with several C', which is worth its time?"""

from collections.abc import Sequence
from typing import NamedTuple

from cprime.advice import wording
from cprime.advice.verdicts import NEGLIGIBLE, Finding, recommended_c_prime
from cprime.advice.wording import nats

# Clocks are noisy: a fit that takes up to so many times as long is as fast.
AS_FAST = 1.1
# Nobody waits for a fit of so many seconds.
QUICK = 0.5


class Compared(NamedTuple):
    """What one of the fits came to.

    Attributes
    ----------
    c_prime : int
    gap : float
        Nats per row that it leaves out.
    log_likelihood : float
        L, in nats per row.
    seconds : float
        That it took.
    """

    c_prime: int
    gap: float
    log_likelihood: float
    seconds: float


def best_of(fits: Sequence[Compared], C: int) -> tuple[int | None, Finding]:
    """Return the C' to use, and why, by gaps and by time as measured.

    Parameters
    ----------
    fits : sequence of Compared
        One for each C', from the same seeds.
    C : int
        Number of clusters. Whether a fit with all of them, EM, is there or not.
    """
    by = {fit.c_prime: fit for fit in fits}
    gaps = {fit.c_prime: fit.gap for fit in fits}
    enough = recommended_c_prime(gaps)
    shown = [c for c in sorted(gaps) if enough is None or c <= enough]
    measured = wording.listing([f"{nats(gaps[c])} at C' = {c}" for c in shown])
    rule = f"a gap below {NEGLIGIBLE:g} nats per row ({measured})"
    if C == 1:
        return 1, Finding("good", "Use C' = 1.", "There is only one cluster to keep.")
    if enough is None:
        headline = f"Keep more than {max(gaps)} of the {C} clusters per row, or all."
        return None, Finding("poor", headline, f"No C' so far has {rule}.")
    if enough == C:
        text = f"No smaller C' has {rule}."
        return C, Finding("good", f"Use all {C} clusters: EM.", text)
    smallest = f"C' = {enough} is the smallest with {rule}."
    if C not in by:
        return enough, Finding("good", f"Use C' = {enough}.", smallest)
    less, em = by[enough], by[C]
    took, em_took = wording.seconds(less.seconds), wording.seconds(em.seconds)
    ahead = em.log_likelihood - less.log_likelihood
    is_quick = em.seconds <= max(QUICK, AS_FAST * less.seconds)
    if enough == 1:
        text = f"{smallest} It took {took}, EM {em_took}."
        if ahead < NEGLIGIBLE:
            return 1, Finding("good", "Use C' = 1: k-means.", text)
        better = f"EM ended at a likelihood higher by {nats(ahead)} nats per row"
        if is_quick:
            headline = f"Use all {C} clusters: EM."
            return C, Finding("good", headline, f"{better}. {text}")
        text = f"{text} {better}: use it if densities or probabilities matter."
        return 1, Finding("fair", "Use C' = 1: k-means.", text)
    if ahead < -NEGLIGIBLE:
        text = f"{smallest} EM (C' = {C}) ended at a lower likelihood this time."
    elif em.seconds <= QUICK:
        text = f"It loses nothing and takes only {em_took} here. {smallest}"
        return C, Finding("good", f"Use all {C} clusters: EM.", text)
    elif em.seconds <= AS_FAST * less.seconds:
        text = (
            f"It loses nothing and is as fast here: it took {em_took}, C' = {enough} "
            f"{took}. {smallest}"
        )
        return C, Finding("good", f"Use all {C} clusters: EM.", text)
    else:
        text = f"{smallest} It took {took}; EM, which loses nothing, {em_took}."
    return enough, Finding("good", f"Use C' = {enough}.", text)
