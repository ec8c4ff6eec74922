"""Where does a fit start? Choosing C rows as the first means.

Every method draws rows with probability proportional to their weight (times something),
in a way that does not see how rows are ordered or repeated: rows are lined up along one
random direction, where identical rows stand together, and a draw is a point on the
cumulated weights of that line. A weight of two is then the same as the row given twice.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cprime.draws import drawn
from cprime.kernels import Kernel, surveys
from cprime.models import Isotropic
from cprime.rows import Rows
from cprime.sampling import Direction, distinct_sample
from cprime.theta import Theta
from cprime.typing import Array

# Length of the Markov chain behind each seed, as in Bachem et al. 2016.
CHAIN_LENGTH = 200
# Chains whose proposals look at earlier seeds together.
CHAINS_AT_ONCE = 32
# Rows in the sample that seeds are drawn from: some for each, and enough in any case.
SAMPLED_PER_SEED = 64
FEWEST_SAMPLED = 2**14


@dataclass(frozen=True)
class Seeds:
    """The first means, and how many distances were computed to find them.

    `K` says which of them each row is near, as the rows keep it; not always the
    closest. `find_assignment`, if there is one, finds it without looking at the rows.
    """

    means: Array
    evaluations: int
    K: Any = None
    find_assignment: Callable[[], Any] | None = None

    def assigned(self) -> "Seeds":
        """Return the seeds with their K, if that can be known."""
        if self.find_assignment is None:
            return self
        return replace(self, K=self.find_assignment(), find_assignment=None)


def greedy_kmeans_plus_plus(
    rows: Rows, C: int, kernel: Kernel, rng: np.random.Generator
) -> Seeds:
    """Choose seeds by D^2 sampling, keeping the best of 2 + log C draws each time.

    The form scikit-learn uses; Arthur & Vassilvitskii 2007 mention it in passing.
    """
    return _kmeans_plus_plus(rows, C, kernel, rng, n_trials=greedy_trials(C))


def greedy_trials(C: int) -> int:
    """Return how many draws the best of is taken, for every seed of C."""
    return 2 + int(math.log(C))


def kmeans_plus_plus(
    rows: Rows, C: int, kernel: Kernel, rng: np.random.Generator
) -> Seeds:
    """Choose seeds by D^2 sampling, one draw each (Arthur & Vassilvitskii 2007)."""
    return _kmeans_plus_plus(rows, C, kernel, rng, n_trials=1)


def sampled_kmeans_plus_plus(
    rows: Rows, C: int, kernel: Kernel, rng: np.random.Generator
) -> Seeds:
    """Choose seeds by greedy k-means++ among a sample of the rows.

    Two passes over the rows, whatever C is, and little memory: for rows in a file.
    """
    sample = distinct_sample(rows, sample_size(C), rng)
    return greedy_kmeans_plus_plus(sample, C, kernel, rng)


def sample_size(C: int) -> int:
    """Return how many rows `sampled_kmeans_plus_plus` draws C seeds from, at most."""
    return max(FEWEST_SAMPLED, SAMPLED_PER_SEED * C)


def random_rows(rows: Rows, C: int, kernel: Kernel, rng: np.random.Generator) -> Seeds:
    """Choose C different rows; how near they are to one another plays no part."""
    line = Line(rows, rng)
    weights = line.weights.copy()
    chosen: list[int] = []
    while len(chosen) < C:
        if not weights.any():
            weights = line.weights.copy()
        # Many at once: those drawn again are left out, as if they could not be drawn.
        for row in drawn(weights, rng.random(C - len(chosen))).tolist():
            if weights[row] > 0:
                chosen.append(row)
                weights[line.copies(row)] = 0.0
    return Seeds(rows.take(line.rows[chosen]), 0)


def afk_mc2(rows: Rows, C: int, kernel: Kernel, rng: np.random.Generator) -> Seeds:
    """Choose seeds by Markov chains that imitate D^2 sampling (Bachem et al. 2016).

    One pass over the rows, whatever C is: each further seed is the end of a chain whose
    proposals are rows far from the first seed, mixed with rows by weight alone.
    """
    line = Line(rows, rng)
    first = drawn(line.weights, rng.random(1))
    means = np.empty((C, rows.n_features))
    means[0] = rows.take(line.rows[first])[0]
    evaluations = rows.n_rows
    in_given_order = rows.map(
        lambda values, _: kernel.distances(values, means[:1])[:, 0]
    )
    spread = in_given_order[line.rows]
    total = float(np.sum(line.weights * spread))
    # Density of the proposal per unit of weight.
    proposal = np.full(rows.n_rows, 1.0 / np.sum(line.weights))
    if total > 0:
        proposal = 0.5 * (proposal + spread / total)
    masses = line.weights * proposal
    # Proposals do not depend on seeds: those of many chains look at them together.
    for begin in range(1, C, CHAINS_AT_ONCE):
        end = min(begin + CHAINS_AT_ONCE, C)
        points, thresholds = rng.random((end - begin, 2, CHAIN_LENGTH)).swapaxes(0, 1)
        candidates = drawn(masses, points.ravel())
        values = rows.take(line.rows[candidates])
        known = Isotropic().coefficients(Theta(means[:begin], 1.0))
        potential = kernel.posterior(values, known, 1).distances[:, 0]
        evaluations += len(values) * begin
        for c in range(begin, end):
            chain = slice((c - begin) * CHAIN_LENGTH, (c - begin + 1) * CHAIN_LENGTH)
            keenness = potential[chain] / proposal[candidates[chain]]
            now = _end_of_chain(keenness, thresholds[c - begin])
            means[c] = values[chain][now]
            if c + 1 < end:
                rest = slice(chain.stop, None)
                of_seed = kernel.distances(values[rest], means[c : c + 1])[:, 0]
                potential[rest] = np.minimum(potential[rest], of_seed)
                evaluations += len(of_seed)
    return Seeds(means, evaluations)


def _end_of_chain(keenness: Array, thresholds: Array) -> int:
    """Return where a chain ends that moves if it is so much keener on a proposal."""
    now = 0
    keen = keenness.tolist()
    for step, threshold in enumerate(thresholds.tolist()):
        if keen[step] > threshold * keen[now]:
            now = step
    return now


def _kmeans_plus_plus(
    rows: Rows, C: int, kernel: Kernel, rng: np.random.Generator, n_trials: int
) -> Seeds:
    if rows.block is None:
        raise ValueError(
            "k-means++ looks at all rows once for every cluster, which takes too long "
            f"with rows that are read from {rows.origin}: draw seeds from a sample, "
            "init='sampled-k-means++', or give centres as init."
        )
    line = Line(rows, rng)
    first = int(drawn(line.weights, rng.random(1))[0])
    points = rng.random((C - 1, n_trials))
    chosen, evaluations = kernel.draw_seeds(rows.block, line.rows, first, points)
    return Seeds(rows.take(chosen), evaluations)


class Line:
    """The rows in their order along one random direction.

    Positions on the line stand for rows: `rows[i]` is the index of the row at i.
    """

    def __init__(self, rows: Rows, rng: np.random.Generator):
        assert rows.block is not None
        along = Direction(rows, rng)
        if rows.resident is None:
            found = surveys.line_up(rows.block, along.direction, along.middle)
        else:
            found = rows.resident.line_up(along.direction, along.middle)
        self.rows, self._copy = found
        self.weights = rows.weights[self.rows]

    def copies(self, position: int) -> slice:
        """Return the positions of the row and of all its identical copies."""
        copy = self._copy[position]
        return slice(
            int(np.searchsorted(self._copy, copy, side="left")),
            int(np.searchsorted(self._copy, copy, side="right")),
        )
