"""From rows to an answer: the search, the finish on all rows, and how sure it is."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from cprime import bounds
from cprime.kernels import Kernel
from cprime.rows import MemoryRows, Rows
from cprime.selection.candidates import Candidate, Fitter
from cprime.selection.choose import Chooser
from cprime.selection.criteria import CRITERIA, Scores, bic
from cprime.selection.journal import FORGETS, Journal
from cprime.selection.plausible import plausible
from cprime.selection.proposers import PROPOSERS
from cprime.theta import Coefficients
from cprime.typing import Array

# The search looks at no more different rows.
MOST_ROWS = 2**14
# Rows of the sample that are kept from fits, for those who judge by them.
HELD_OUT = 0.2
# Fewer different rows cannot be divided so.
FEWEST_DIVIDED = 5
# Fits to a sample that are fitted to all rows: the best whose clusters are groups, and
# the best of all.
GROUPED_FINALISTS, FINALISTS = 4, 2
FINAL_ITERATIONS = 15
# C' that are tried, one after another.
C_PRIMES = (1, 2, 3, 5, 8, 12, 20)


@dataclass(frozen=True)
class Choice:
    """What was found.

    Attributes
    ----------
    best : Candidate
    candidates : list of Candidate
        All fits in the end, by shape and number of clusters.
    plausible : list of int
        Numbers of clusters that the evidence does not rule out.
    agreement : dict
        The number of clusters each criterion prefers; "modes" are the groups of the
        mixture that BIC prefers.
    groups : ndarray of shape (C,)
        To which of these groups each of that mixture's clusters belongs.
    by_bic : Candidate
        That mixture.
    n_searched : int
        Different rows that the search has looked at.
    is_sample : bool
        Whether there are more.
    at_limit : bool
        Whether a path ended because more clusters were not allowed.
    """

    best: Candidate
    candidates: list[Candidate]
    plausible: list[int]
    agreement: dict[str, int]
    groups: Array
    by_bic: Candidate
    n_searched: int
    is_sample: bool
    at_limit: bool


class Search:
    """Looks for the best number and shape of clusters.

    Parameters
    ----------
    rows : Rows
    sample : MemoryRows
        Of at most `MOST_ROWS` different ones: what the search looks at.
    kernel : Kernel
    shapes : tuple of str
    criterion : str
    floor : ndarray of shape (D,)
        Smallest variance of every feature.
    most : int, optional
        The largest number of clusters that is tried.
    seed : int
    journal : Journal, optional
        Remembers what was computed.
    proposer : str, default="gain"
        Which clusters of a path are split.
    """

    def __init__(
        self,
        rows: Rows,
        sample: MemoryRows,
        kernel: Kernel,
        shapes: tuple[str, ...],
        criterion: str,
        floor: Array,
        most: int | None,
        seed: int,
        journal: Journal = FORGETS,
        proposer: str = "gain",
    ):
        self._all, self.criterion = rows, CRITERIA[criterion]
        self._of_sample: list[Candidate] = []
        self.n_searched = sample.n_rows
        self._is_sample = MOST_ROWS <= sample.n_rows < rows.n_rows
        held_out = None
        if criterion == "held_out":
            sample, held_out = _divided(sample)
        limit = max(1, sample.n_rows // 5)
        # What the fits that may be the answer were fitted to.
        self._judged: Rows = sample
        self._limited = most is not None and most <= limit
        self._chooser = Chooser(
            sample,
            kernel,
            shapes,
            np.maximum(floor, rounding_variances(sample.X)),
            limit if most is None else min(most, sample.n_rows),
            seed,
            held_out,
            criterion=self.criterion,
            proposer=PROPOSERS[proposer],
            journal=journal,
        )

    def run(self) -> Iterator[Candidate]:
        """Yield fits as they are tried."""
        yield from self._chooser.run()
        yield from self._finals()

    @property
    def has_candidates(self) -> bool:
        """Whether there is something to choose from."""
        return bool(self._chooser.table)

    def best(self) -> Candidate:
        """Return the best fit so far."""
        return self._chooser.best_of_groups(self.criterion)

    def choice(self) -> Choice:
        """Return the best of all that has been tried."""
        chooser, best = self._chooser, self.best()
        by_bic = chooser.best(bic)
        groups = chooser.groups(by_bic)
        says = {
            name: chooser.best(of).C
            for name, of in CRITERIA.items()
            if not math.isnan(of(best.scores))
        }
        largest = max(c.C for c in chooser.table.values())
        return Choice(
            best,
            sorted(
                (*chooser.candidates, *self._of_sample),
                key=lambda c: (c.shape, c.C, -c.scores.weight),
            ),
            sorted(plausible(chooser, best, self.criterion, self._judged)),
            {**says, "modes": int(groups.max()) + 1},
            groups,
            by_bic,
            self.n_searched,
            self._is_sample,
            self._limited and largest == chooser.most,
        )

    def _finals(self) -> Iterator[Candidate]:
        """Fit the best of the sample to all rows, if those are more."""
        chooser = self._chooser
        if not self._is_sample or chooser.held_out is not None:
            return
        weight = float(self._all.reduce(lambda values, weights: np.sum(weights)))
        ahead = sorted(
            chooser.candidates,
            key=lambda c: self.criterion(projected(c.scores, weight)),
        )
        grouped = islice((c for c in ahead if chooser.are_groups(c)), GROUPED_FINALISTS)
        one = next(c for c in ahead if c.C == 1)
        finalists = {c.key: c for c in (*ahead[:FINALISTS], *grouped, one)}
        finals: dict[tuple[str, int], Candidate] = {}
        apart: dict[tuple[str, int], Candidate] = {}
        for found in finalists.values():
            fitter = Fitter(
                self._all,
                chooser.kernel,
                found.shape,
                chooser.floor,
                weight,
                journal=chooser.journal,
            )
            final = fitter.fitted(found.theta, FINAL_ITERATIONS)
            key = (found.shape, found.C)
            is_apart = chooser.apart.get(key) is found
            (apart if is_apart else finals)[key] = final
            yield replace(final, seconds=found.seconds)
        # All at once: whoever interrupts still has those of the sample.
        self._of_sample = ahead
        chooser.table, chooser.apart, self._judged = finals, apart, self._all


def projected(scores: Scores, weight: float) -> Scores:
    """Return what a fit to a sample would be worth with rows of this weight.

    Parameters that were fitted to the sample describe it better than other rows, by one
    nat each.
    """
    optimism = scores.n_parameters / scores.weight
    return scores._replace(
        free_energy=scores.free_energy - optimism,
        log_likelihood=scores.log_likelihood - optimism,
        weight=weight,
    )


def rounding_variances(X: Array) -> Array:
    """Return the variance that rounding has given to every feature, shape (D,).

    Values in steps of u are off by up to u / 2: a variance of u^2 / 12. A cluster
    narrower than that is a value which many rows share.
    """
    steps = [np.diff(np.unique(column)).min(initial=np.inf) for column in X.T]
    found = np.array(steps)
    return np.where(np.isfinite(found), found, 0.0) ** 2 / 12.0


def smallest_c_prime(
    rows: Rows, coefficients: Coefficients, kernel: Kernel, tolerance: float
) -> int:
    """Return the smallest C' that loses less than `tolerance` nats per row."""
    C = len(coefficients.means)
    for C_prime in C_PRIMES:
        if C_prime >= C:
            break
        gap = bounds.gap(rows, coefficients, C_prime=C_prime, kernel=kernel)
        if gap < tolerance:
            return C_prime
    return C


def _divided(sample: MemoryRows) -> tuple[MemoryRows, MemoryRows]:
    """Return rows to fit and rows to judge by. Their order is a random one."""
    n_fitted = sample.n_rows - int(HELD_OUT * sample.n_rows)
    order = np.arange(sample.n_rows)
    fitted, judged = order[:n_fitted], order[n_fitted:]
    return sample.subset(fitted), sample.subset(judged)
