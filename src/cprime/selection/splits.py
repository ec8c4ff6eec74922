"""What would be gained if one cluster became two?"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cprime import convergence, em, lloyd, seeding
from cprime.blas import one_thread
from cprime.kernels import Kernel
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.selection.candidates import Fitter
from cprime.selection.proposers import Proposer, by_gain
from cprime.selection.shapes import Mixture, with_split, without
from cprime.theta import Theta
from cprime.typing import Array

# Runs of k-means with two clusters, of which the best counts.
STARTS = 2
MOST_ITERATIONS = 20
TOLERANCE = 1e-4
# Fewer rows are no cluster; of full covariances, one more than they have features.
FEWEST_ROWS = 4
# A cluster is looked at again once its weight or its mean, in standard deviations, has
# changed by more.
SAME_WEIGHT = 0.05
SAME_MEAN = 0.1
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Split:
    """Two clusters for the rows of one, and the nats they gain.

    Attributes
    ----------
    gain : float
    theta : Theta or None
        Of the two, if there are rows enough for them.
    weight : float
    mean, variance : ndarray of shape (D,)
        Of the rows that are divided.
    rank : float
        What the proposer makes of it: the highest is split, -inf never.
    """

    gain: float
    theta: Theta | None
    weight: float
    mean: Array
    variance: Array
    rank: float = -math.inf

    def is_of(self, weight: float, mean: Array) -> bool:
        """Return whether it divides nearly the same rows."""
        if abs(self.weight - weight) > SAME_WEIGHT * self.weight:
            return False
        moved = (self.mean - mean) ** 2
        return bool(np.all(moved <= SAME_MEAN**2 * self.variance))


class Splits:
    """Finds the best split of every cluster, and remembers those that still hold.

    Parameters
    ----------
    fitter : Fitter
        Of rows in memory.
    seed : int
    proposer : callable, default=by_gain
    """

    def __init__(self, fitter: Fitter, seed: int, proposer: Proposer = by_gain):
        self._fitter = fitter
        self._proposer = proposer
        self._seed = seed
        self._known: list[Split] = []

    @one_thread()
    def of(self, theta: Theta) -> list[Split]:
        """Return a split for every cluster."""
        block = self._fitter.rows.block
        assert block is not None
        labels, C = self._fitter.labels(theta), len(theta.means)
        order = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels, minlength=C))
        groups = np.split(order, ends[:-1])
        self._known = [
            self._of_cluster(block.X[rows], block.weights[rows], theta, c)
            for c, rows in enumerate(groups)
        ]
        return self._known

    def _of_cluster(self, Y: Array, weights: Array, theta: Theta, c: int) -> Split:
        weight = float(np.sum(weights))
        if not weight > 0:
            nothing = np.zeros(Y.shape[1])
            return Split(-math.inf, None, 0.0, nothing, nothing)
        mean = weights @ Y / weight
        for split in self._known:
            if split.is_of(weight, mean):
                return split
        return self._fitter.journal.recall(
            lambda: self._found(Y, weights, weight, mean, theta, c)
        )

    def _found(
        self, Y: Array, weights: Array, weight: float, mean: Array, theta: Theta, c: int
    ) -> Split:
        scatter = moments(Y, weights, self._fitter.floor)[2]
        best = Split(-math.inf, None, weight, mean, np.diagonal(scatter))
        least = FEWEST_ROWS
        if self._fitter.shape == "full":
            least = max(least, Y.shape[1] + 1)
        if weight < 2 * least or len(Y) < 2:
            return best
        find = self._alike if self._fitter.of.shared else self._of_their_own
        for gain, two in find(Y, weights, theta, c, least):
            if gain > best.gain:
                best = replace(best, gain=gain, theta=two)
        if best.theta is None:
            return best
        places = (Y - mean) @ (best.theta.means[1] - best.theta.means[0])
        matrix = Mixture.of(theta).matrices[c]
        evidence = self._evidence(best, scatter, matrix)
        return replace(best, rank=self._proposer(best.gain, evidence, places, weights))

    def _evidence(self, split: Split, scatter: Array, matrix: Array) -> float:
        """Return by how much BIC, in nats, prefers two clusters for rows of one."""
        two, weight, model = split.theta, split.weight, self._fitter.model
        assert two is not None and two.proportions is not None
        gain, D = split.gain, len(matrix)
        if self._fitter.of.shared:
            # All others count in what the covariance is; here these rows alone do.
            labels = weight * float(two.proportions @ np.log(two.proportions))
            closer = gain if self._fitter.of.equal else gain - labels
            before = 0.5 * weight * float(np.trace(np.linalg.solve(matrix, scatter)))
            gain = (
                0.5 * weight * D * math.log(before / max(before - closer, TINY))
                + labels
            )
        n_more = model.n_parameters(2, D) - model.n_parameters(1, D)
        return gain - 0.5 * n_more * math.log(weight)

    def _alike(
        self, Y: Array, weights: Array, theta: Theta, c: int, least: int
    ) -> Iterator[tuple[float, Theta]]:
        """Yield two clusters that share the covariance of all others."""
        matrix = Mixture.of(theta).matrices[c]
        root = np.linalg.cholesky(np.linalg.inv(matrix))
        labels = two_means(Y @ root, weights, self._fitter.kernel, self._seed)
        sums = np.bincount(labels, weights, minlength=2)
        if sums.min() < least:
            return
        means = np.array(
            [weights[labels == k] @ Y[labels == k] / sums[k] for k in (0, 1)]
        )
        shares = sums / sums.sum()
        step = (means[1] - means[0]) @ root
        gain = 0.5 * sums[0] * shares[1] * float(step @ step)
        if not self._fitter.of.equal:
            gain += float(sums @ np.log(shares))
        yield gain, Theta(means, theta.covariance, shares)

    def _of_their_own(
        self, Y: Array, weights: Array, theta: Theta, c: int, least: int
    ) -> Iterator[tuple[float, Theta]]:
        """Yield pairs of clusters with covariances of their own, by EM."""
        fitter = self._fitter
        weight, mean, scatter = moments(Y, weights, fitter.floor)
        rows = MemoryRows(Y, weights)
        local = Fitter(rows, fitter.kernel, fitter.shape, fitter.floor, weight)
        one = fitter.of.theta(Mixture(np.ones(1), mean[None], scatter[None]))
        alone = local.free_energy(one, 1)
        deviations = np.sqrt(np.diagonal(scatter))
        roots = np.diag(1.0 / deviations)
        if fitter.shape == "full":
            values, vectors = np.linalg.eigh(scatter)
            roots = vectors / np.sqrt(values)
        known: list[Array] = []
        for Z in ((Y - mean) @ roots, (Y - mean) / math.sqrt(np.mean(deviations**2))):
            labels = two_means(Z, weights, fitter.kernel, self._seed)
            sums = np.bincount(labels, weights, minlength=2)
            if sums.min() < least or any(np.array_equal(labels, k) for k in known):
                continue
            known += [labels, 1 - labels]
            halves = [
                moments(Y[labels == k], weights[labels == k], fitter.floor)
                for k in (0, 1)
            ]
            _, means, matrices = (np.array(of) for of in zip(*halves))
            start = fitter.of.theta(Mixture(sums / weight, means, matrices))
            two = local.refined(start, MOST_ITERATIONS)
            assert two.proportions is not None
            if (two.proportions * weight).min() >= least:
                yield weight * (local.free_energy(two, 2) - alone), two


def two_means(Z: Array, weights: Array, kernel: Kernel, seed: int) -> Array:
    """Return the labels of the best of a few runs of k-means with two clusters."""
    rows = MemoryRows(np.ascontiguousarray(Z), np.ascontiguousarray(weights))
    rng = np.random.default_rng(seed)
    hard = Problem(rows, Isotropic(), Exact(), kernel, C_prime=1)
    stop = convergence.Tolerance(TOLERANCE * Z.shape[1], TOLERANCE)
    seeds = [
        seeding.greedy_kmeans_plus_plus(rows, 2, kernel, rng).means
        for _ in range(STARTS)
    ]
    ended: list[lloyd.Ended | None] = [None] * STARTS
    if lloyd.is_possible(hard, stop, 2, np.float64):
        ended.clear()
        lloyd.fits(hard, stop, MOST_ITERATIONS, np.array(seeds), np.float64, ended)
    ends = []
    for means, found in zip(seeds, ended):
        if found is None:
            *_, last = em.steps(hard, means, stop, MOST_ITERATIONS)
        else:
            last = found.last
        ends.append(last)
    best = min(ends, key=lambda step: float(step.theta.covariance))
    coefficients = hard.model.coefficients(best.theta)
    labels: Array = rows.map(lambda values, _: kernel.nearest(values, coefficients))
    return labels


def variations(
    fitter: Fitter, splits: Splits, theta: Theta, n_tried: int
) -> Iterator[Theta]:
    """Yield starts next to a fit: a cluster less, a cluster more, one exchanged."""
    C = len(theta.means)
    least: list[int] = []
    if C > 1:
        least = np.argsort(fitter.removal_losses(theta))[:n_tried].tolist()
        yield from (without(theta, c) for c in least)
    found = splits.of(theta)
    for c in sorted(range(C), key=lambda c: -found[c].gain)[:n_tried]:
        two = found[c].theta
        if two is not None:
            more = with_split(theta, c, two)
            yield more
            if C > 2:
                yield from (without(more, other) for other in least if other != c)


def moments(Y: Array, weights: Array, floor: Array) -> tuple[float, Array, Array]:
    """Return weight, mean and covariance of rows, not below the floor."""
    weight = float(np.sum(weights))
    mean = weights @ Y / weight
    steps = Y - mean
    scatter = (steps * weights[:, None]).T @ steps / weight
    return weight, mean, scatter + np.diag(floor)
