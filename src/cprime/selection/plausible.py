"""Which numbers of clusters does the evidence not rule out?"""

import math
from collections.abc import Callable, Iterable

import numpy as np

from cprime.kernels import Kernel, free_energies
from cprime.rows import Rows
from cprime.selection.candidates import Candidate
from cprime.selection.choose import Chooser
from cprime.selection.criteria import (
    NO_EVIDENCE,
    Criterion,
    bic,
    bic_free_energy,
    icl,
)
from cprime.selection.shapes import SHAPES
from cprime.stats import weighted_sum
from cprime.theta import Coefficients
from cprime.typing import Array

# Two fits are told apart by a difference of more than so many standard errors.
SURE = 2.0
# One after another that are ruled out, before no further numbers are looked at.
RULED_OUT = 2
# Criteria whose answers are plausible.
JUDGES = (bic, icl, bic_free_energy)


def _is_any(candidate: Candidate) -> bool:
    return True


def plausible(
    chooser: Chooser, best: Candidate, criterion: Criterion, rows: Rows
) -> set[int]:
    """Return numbers that are not clearly worse, or that other criteria prefer.

    Also the number of groups of BIC's mixture, and those between the answer and that
    of BIC, which asks no price for ambiguous rows: how much of one is right is not
    known.

    Parameters
    ----------
    chooser : Chooser
        With all that was tried.
    best : Candidate
        The answer.
    criterion : callable
        That gave it.
    rows : Rows
        That all were fitted to.
    """
    # Parts of one group are no groups, however well they describe it.
    is_rival = chooser.are_groups if best.C == 1 else _is_any
    found = indistinguishable(
        best, chooser.candidates, criterion, rows, chooser.kernel, is_rival
    )
    found |= {chooser.best_of_groups(of).C for of in JUDGES}
    found.add(int(chooser.groups(chooser.best(bic)).max()) + 1)
    if best.C > 1:
        ends = best.C, chooser.best_of_groups(bic).C
        found |= {*range(min(ends), max(ends) + 1)}
        found |= {chooser.best(of).C for of in JUDGES}
    limit = criterion(best.scores) + NO_EVIDENCE
    for other in chooser.candidates:
        near = criterion(other.scores) <= limit and other.C not in found
        if near and chooser.are_groups(other):
            found.add(other.C)
    return found


def indistinguishable(
    best: Candidate,
    candidates: Iterable[Candidate],
    criterion: Criterion,
    rows: Rows,
    kernel: Kernel,
    is_rival: Callable[[Candidate], bool] = _is_any,
) -> set[int]:
    """Return numbers of clusters with a fit that other rows might as well prefer.

    The difference of two criteria is a sum over rows, so how much it differs from one
    set of rows to the next is known from how much it differs between these rows (Vuong
    1989). A fit of which it is clearly lower is another matter: it is not the answer
    because its clusters are no groups.

    Parameters
    ----------
    best : Candidate
        The answer.
    candidates : iterable of Candidate
    criterion : callable
    rows : Rows
        That all were fitted to.
    kernel : Kernel
    is_rival : callable, default=all
        Which fits are looked at.
    """

    def apart(other: Candidate) -> float:
        return abs(criterion(other.scores) - criterion(best.scores))

    candidates = sorted(candidates, key=apart)
    found = {best.C}
    for step in (1, -1):
        C, ruled_out = best.C + step, 0
        while ruled_out < RULED_OUT:
            rivals = (c for c in candidates if c.C == C and is_rival(c))
            closest = next(rivals, None)
            if closest is None:
                break
            # Criteria are twice as many nats.
            error = standard_error(best, closest, rows, kernel)
            if apart(closest) <= 2.0 * SURE * error:
                found.add(C)
                ruled_out = 0
            else:
                ruled_out += 1
            C += step
    return found


def standard_error(
    one: Candidate, other: Candidate, rows: Rows, kernel: Kernel
) -> float:
    """Return that of the difference between F (C' = 1) of two fits, of all rows."""
    pair = [_coefficients(candidate) for candidate in (one, other)]

    def moments(values: Array, weights: Array) -> Array:
        of_one, of_other = (free_energies(kernel, values, of, 1) for of in pair)
        gains = of_one - of_other
        sums = [weighted_sum(weights, gains**power) for power in (0, 1, 2)]
        return np.array(sums)

    weight, first, second = rows.reduce(moments)
    return math.sqrt(max(second - first * first / weight, 0.0))


def _coefficients(candidate: Candidate) -> Coefficients:
    D = candidate.theta.means.shape[1]
    return SHAPES[candidate.shape].model(np.zeros(D)).coefficients(candidate.theta)
