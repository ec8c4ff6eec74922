"""k-means||: seeds from candidates that are drawn many at a time.

Every round draws some rows by weight and distance to the candidates of the rounds
before, and every row looks at the new ones: a few passes over the rows, each at the
speed of a sweep, whatever C is. Greedy k-means++ then chooses among the candidates,
each with the weight of the rows it is nearest to (Bahmani et al. 2012).
"""

from functools import partial
from typing import Any

import numpy as np

from cprime.kernels import Kernel
from cprime.keyed_rows import KeyedRows
from cprime.models import Isotropic
from cprime.rows import MemoryRows, Rows
from cprime.sampling import Direction
from cprime.seeding import Seeds, greedy_kmeans_plus_plus
from cprime.theta import Theta
from cprime.typing import Array

# From so many multiply-adds a sweep on, greedy k-means++ takes longer than many fits.
LEAST_WORK = 2**28
# What a distance costs besides its features, in these.
OF_DISTANCE = 16
# With fewer rows to a cluster, most of them would be candidates.
FEWEST_PER_CLUSTER = 8
# So many rounds of C / 2 draws give seeds as good as greedy k-means++ among all rows.
ROUNDS = 8


def pays(n_rows: int, D: int, C: int) -> bool:
    """Return whether it takes its place where k-means++ is asked for."""
    work = n_rows * C * (D + OF_DISTANCE)
    return work >= LEAST_WORK and n_rows >= FEWEST_PER_CLUSTER * C


def kmeans_parallel(
    rows: Rows, C: int, kernel: Kernel, rng: np.random.Generator
) -> Seeds:
    """Choose seeds by greedy k-means++ among candidates drawn in rounds.

    Ten passes over the rows, whatever C is.
    """
    candidates = _candidates(rows, kernel, rng)
    for _ in range(ROUNDS):
        candidates.add(rng.random(-(-C // 2)))
    # Where few rows far away have had most draws, others become candidates by weight.
    while candidates.count < C and candidates.add(rng.random(C), by_distance=False):
        pass
    found = _weighted(candidates)
    seeds = greedy_kmeans_plus_plus(found, C, kernel, rng)
    evaluations = candidates.evaluations + seeds.evaluations
    find_assignment = partial(_near, candidates, kernel, seeds.means)
    return Seeds(seeds.means, evaluations, find_assignment=find_assignment)


def _candidates(rows: Rows, kernel: Kernel, rng: np.random.Generator) -> Any:
    """Return the candidates, none so far: of rows on a device, those that it keeps."""
    resident = rows.resident
    if resident is None:
        return _Candidates(rows, kernel, rng)
    direction = Direction(rows, rng)
    return resident.candidates(direction, salt=int(rng.integers(2**63)))


def _weighted(candidates: Any) -> MemoryRows:
    """Return the candidates, each with the weight of the rows nearest to it."""
    means = candidates.means
    with np.errstate(over="ignore"):
        narrow = means.astype(np.float32)
    # Half as much to move in every step that follows.
    values = narrow if np.array_equal(narrow, means) else means
    return MemoryRows(values, candidates.weights())


def _near(candidates: Any, kernel: Kernel, seeds: Array) -> Any:
    """Return for every row the seed closest to the candidate it is nearest to.

    As rows keep it.
    """
    known = Isotropic().coefficients(Theta(seeds, 1.0))
    return candidates.kept(kernel.nearest(candidates.means, known))


class _Candidates:
    """Rows that may become seeds, and which of them every row is nearest to."""

    def __init__(self, rows: Rows, kernel: Kernel, rng: np.random.Generator):
        self._rows, self._kernel = rows, kernel
        self._keyed = KeyedRows(rows, kernel, rng)
        self._means: list[Array] = []
        self._nearest: Any = self._keyed.from_middle
        self._owner: Any = None
        self.count = 0
        self.evaluations = rows.n_rows

    def add(self, points: Array, by_distance: bool = True) -> bool:
        """Draw rows that are no candidates yet; return whether there are any.

        By weight times squared distance to the nearest candidate, at first to the
        middle; or by weight alone.
        """
        known, kernel = self._owner is not None, self._kernel

        def of_weight(nearest: Array) -> Array:
            if by_distance:
                return nearest
            return (nearest > 0).astype(float) if known else np.ones(len(nearest))

        means = self._keyed.draw(points, of_weight, self._nearest)
        if len(means) == 0:
            return False
        before = np.concatenate([np.empty((0, self._rows.n_features)), *self._means])

        def of_all(
            values: Array, weights: Array, nearest: Array, owner: Array
        ) -> tuple[Array, Array]:
            return kernel.nearer(values, means, before, nearest, owner)

        def of_new(values: Array, weights: Array) -> tuple[Array, Array]:
            unknown = np.full(len(values), np.inf), np.zeros(len(values), np.int32)
            return of_all(values, weights, *unknown)

        if known:
            found = self._nearest, self._owner
            self._nearest, self._owner = self._rows.columns(of_all, *found)
        else:
            self._nearest, self._owner = self._rows.columns(of_new)
        self._means.append(means)
        self.count += len(means)
        self.evaluations += len(means) * self._rows.n_rows
        return True

    @property
    def means(self) -> Array:
        """All of them, shape (count, D)."""
        return np.concatenate(self._means)

    def weights(self) -> Array:
        """Return the weight of the rows nearest to each of them."""
        count = self.count

        def of_owners(weights: Array, owner: Array) -> Array:
            return np.bincount(owner, weights, count)

        found: Array = self._rows.sum_slices(of_owners, self._owner)
        return found

    def kept(self, closest: Array) -> Any:
        """Return as K what each row's nearest candidate is closest to."""
        return self._rows.assigned(lambda owner: closest[owner], self._owner)
