"""How does a mixture learn from batches of rows that are seen once and let go?

Stepwise EM (Cappe & Moulines 2009, Liang & Klein 2009): an E-step over the batch alone,
its statistics added to those of the batches before, of which a little is forgotten, and
an M-step from the sum.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cprime import em
from cprime.models import Model
from cprime.problem import Problem
from cprime.relocation import Refilled, refill
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array

# Batch t, of equal ones, makes up t^-0.7 of what is remembered. Any exponent above 1/2
# and up to 1 converges; 1 is the mean of all rows, which never gets over its first,
# bad parameters, and small ones leave the noise of the last batches in the parameters.
EXPONENT = 0.7
# A cluster starves that has less than this part of an equal share, W / C, both of the
# batch and of all that is remembered.
STARVED = 1e-3


@dataclass(frozen=True)
class Memory:
    """What is left of all batches so far.

    Attributes
    ----------
    theta : Theta
    stats : Stats, optional
        Sums over all rows, of earlier ones the less the longer ago. About the means of
        `theta`, so that nothing cancels. None if nothing is known but `theta`.
    n_batches : int
    weight : float
        Of all rows so far, forgotten or not.
    """

    theta: Theta
    stats: Stats | None = None
    n_batches: int = 0
    weight: float = 0.0

    def kept(self, weight: float) -> float:
        """Return the factor by which sums shrink when a batch of this weight comes.

        Of equal batches, number t then makes up t^-0.7 of what is remembered. Others
        make one forget in proportion to their weight: one of half the mean weight takes
        the square root of the factor. So weights count as repetitions, and their unit
        does not matter.
        """
        if self.n_batches == 0:
            return 0.0
        t = self.n_batches + 1
        mean_weight = (self.weight + weight) / t
        of_equal = (t**EXPONENT - 1.0) / (t - 1) ** EXPONENT
        return float(of_equal ** (weight / mean_weight))


@dataclass(frozen=True)
class Learned:
    """What a batch has changed.

    Attributes
    ----------
    memory : Memory
    before : Theta
        The parameters the batch was swept with, which had not seen it yet.
    K : as the rows keep it
    stats : Stats
        Of the batch alone.
    free_energy : float
        F of the batch. As K and `stats`, under the parameters before.
    relocated : tuple of int
        Clusters that starved and were given a row of the batch.
    """

    memory: Memory
    before: Theta
    K: Any
    stats: Stats
    free_energy: float
    relocated: tuple[int, ...]


def begin(problem: Problem, means: Array) -> Learned:
    """Learn from the first batch: one iteration of EM from these seeds."""
    theta, K, stats, _ = em.first_step(problem, means)
    return _learned(problem, Memory(theta), K, stats)


def go_on(problem: Problem, memory: Memory, kept: float | None = None) -> Learned:
    """Learn from the next batch.

    Parameters
    ----------
    problem : Problem
        Its rows are the batch.
    memory : Memory
    kept : float, optional
        The factor by which earlier sums shrink. By default `memory.kept`; with 0 it is
        an iteration of EM on the batch.
    """
    K, stats = problem.sweep(memory.theta, None)
    return _learned(problem, memory, K, stats, kept)


def recentred(model: Model, stats: Stats, about: Theta, theta: Theta) -> Stats:
    """Return the same sums, taken about the means of theta."""
    step = theta.means - about.means
    return replace(
        stats,
        shifts=stats.shifts - stats.counts[:, None] * step,
        scatter=model.scatter(theta, stats, about),
    )


def _learned(
    problem: Problem, memory: Memory, K: Any, batch: Stats, kept: float | None = None
) -> Learned:
    model, theta = problem.model, memory.theta
    free_energy = em.finite(model.free_energy(theta, batch, about=theta), theta)
    if memory.stats is None:
        _, total, about, relocated = refill(problem, K, batch, theta)
    else:
        factor = memory.kept(batch.weight) if kept is None else kept
        total = memory.stats.scaled(factor) + batch
        _, total, about, relocated = _fed(problem, K, total, batch, theta)
    after = model.reseeded(model.maximize(total, about), relocated)
    now = Memory(
        after,
        recentred(model, total, about, after),
        memory.n_batches + 1,
        memory.weight + batch.weight,
    )
    return Learned(now, theta, K, batch, free_energy, tuple(relocated))


def _fed(
    problem: Problem, K: Any, total: Stats, batch: Stats, theta: Theta
) -> Refilled:
    """Move starving clusters to badly served rows of the batch, as in a fit.

    What little they have is forgotten, as if they were empty.
    """
    starving = _is_starved(total) & _is_starved(batch)
    fed = refill(problem, K, _without(total, starving), theta)
    return fed if fed.moved else Refilled(K, total, theta, [])


def _is_starved(stats: Stats) -> Array:
    starved: Array = stats.counts <= STARVED * stats.weight / len(stats.counts)
    return starved


def _without(stats: Stats, clusters: Array) -> Stats:
    """Return the sums less those of some clusters, where they are told apart."""
    counts, shifts, scatter = (
        np.where(clusters.reshape(-1, *(1,) * (np.ndim(sums) - 1)), 0.0, sums)
        if np.ndim(sums) > 0 and len(sums) == len(clusters)
        else sums
        for sums in (stats.counts, stats.shifts, stats.scatter)
    )
    weight = stats.weight - float(np.sum(stats.counts[clusters]))
    return replace(stats, counts=counts, shifts=shifts, scatter=scatter, weight=weight)
