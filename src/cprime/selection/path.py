"""A mixture for every number of clusters, each grown from the one before."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cprime.blas import one_thread
from cprime.selection.candidates import KEPT, Candidate, Fitter
from cprime.selection.criteria import Criterion, bic, icl
from cprime.selection.proposers import Proposer, by_gain
from cprime.selection.shapes import Mixture, with_split, without
from cprime.selection.splits import Splits, moments
from cprime.theta import Theta
from cprime.typing import Array

# A path ends when the best number of clusters, by BIC, lies this far behind; by ICL,
# twice and four times as far.
FEWEST_AHEAD, SHARE_AHEAD = 8, 0.25
MOST_ITERATIONS = 60
# To make means of k-means those of a mixture.
SOFT_ITERATIONS = 15
# Exchanges of a cluster that are tried for every number.
SWAPS = 2
# What an exchange must promise, in nats.
WORTH_A_SWAP = 1.0
# L differs by less between fits that are the same.
SAME = 1e-12


class Path:
    """Fits of one shape for 1, 2, 3, ... clusters.

    Parameters
    ----------
    fitter : Fitter
        Of rows in memory.
    seed : int
    hard : bool, default=False
        Whether clusters are looked for by k-means (C' = 1), and only judged as those of
        a mixture.
    proposer : callable, default=by_gain
        Which cluster is split next.
    """

    def __init__(
        self,
        fitter: Fitter,
        seed: int,
        hard: bool = False,
        proposer: Proposer = by_gain,
    ):
        self._fitter = fitter
        self._splits = Splits(fitter, seed, proposer)
        self._hard = hard
        # The best for every number of clusters, and what later ones grow from.
        self.fits: dict[int, Candidate] = {}
        self.thetas: dict[int, Theta] = {}
        self._values: dict[int, float] = {}

    def grow(self, most: int) -> Iterator[Candidate]:
        """Yield fits of more and more clusters, until more have not helped for long.

        Or until no cluster is proposed to be split.
        """
        theta, C = self._considered(self._one()), 1
        yield self._judged(1)
        while most > C and self._fitter.affords(C + 1) and not self._is_over(C):
            splits = self._splits.of(theta)
            c = int(np.argmax([split.rank for split in splits]))
            two = splits[c].theta
            if two is None or splits[c].rank == -np.inf:
                return
            theta = self._considered(self._refined(with_split(theta, c, two)))
            theta, C = self._swapped(theta), C + 1
            yield self._judged(C)

    def shrink(self, least: int) -> Iterator[Candidate]:
        """Yield fits of fewer and fewer clusters: the one that is worth least goes."""
        for C in range(max(self.fits), max(1, least), -1):
            theta = self.thetas[C]
            c = int(np.argmin(self._losses(theta)))
            self._considered(self._refined(without(theta, c)))
            yield self._judged(C - 1)

    def leader(self, criterion: Criterion) -> int:
        """Return the number of clusters a criterion prefers."""
        return min(self.fits, key=lambda C: criterion(self.fits[C].scores))

    @one_thread()
    def _one(self) -> Theta:
        """Return all rows as one cluster."""
        block, fitter = self._fitter.rows.block, self._fitter
        assert block is not None
        _, mean, matrix = moments(block.X, block.weights, fitter.floor)
        return fitter.of.theta(Mixture(np.ones(1), mean[None], matrix[None]))

    def _refined(self, theta: Theta) -> Theta:
        C_prime = 1 if self._hard else KEPT
        return self._fitter.refined(theta, MOST_ITERATIONS, C_prime)

    def _considered(self, theta: Theta) -> Theta:
        """Keep a fit if it is the best of its size; return the best of its size."""
        C = len(theta.means)
        value = self._fitter.free_energy(theta, 1 if self._hard else C)
        if value <= self._values.get(C, -math.inf) + SAME:
            return self.thetas[C]
        self._values[C], self.thetas[C] = value, theta
        self.fits.pop(C, None)
        return theta

    def _judged(self, C: int) -> Candidate:
        """Return the best fit of its size, judged once it is known to be that."""
        if C not in self.fits:
            fitter, theta, value = self._fitter, self.thetas[C], self._values[C]
            start = fitter.refined(theta, SOFT_ITERATIONS) if self._hard else theta
            found = fitter.judged(start)
            if self._hard:
                # That of k-means itself.
                found = replace(found, scores=found.scores._replace(free_energy=value))
            self.fits[C] = found
        return self.fits[C]

    def _swapped(self, theta: Theta) -> Theta:
        """Take away the cluster that is worth least and split one, while it helps."""
        for _ in range(SWAPS):
            splits, losses = self._splits.of(theta), self._losses(theta)
            c = int(np.argmax([split.gain for split in splits]))
            losses[c] = np.inf
            least, two = int(np.argmin(losses)), splits[c].theta
            if two is None or splits[c].gain <= losses[least] + WORTH_A_SWAP:
                break
            other = self._refined(without(with_split(theta, c, two), least))
            if self._considered(other) is not other:
                break
            theta = other
        return theta

    def _losses(self, theta: Theta) -> Array:
        fitter = self._fitter
        find = fitter.hard_removal_losses if self._hard else fitter.removal_losses
        return find(theta)

    def _is_over(self, C: int) -> bool:
        for criterion, times in ((bic, 1), (icl, 2)):
            leader = self.leader(criterion)
            ahead = max(FEWEST_AHEAD, SHARE_AHEAD * times * leader)
            if C - leader >= times * ahead:
                return True
        return False
