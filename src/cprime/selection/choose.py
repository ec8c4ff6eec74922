"""Which mixture describes these rows best?"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from cprime.blas import one_thread
from cprime.kernels import Kernel
from cprime.rows import MemoryRows
from cprime.selection.candidates import Candidate, Fitter
from cprime.selection.criteria import Criterion, bic, bic_free_energy, icl
from cprime.selection.journal import FORGETS, Journal
from cprime.selection.modes import groups
from cprime.selection.path import MOST_ITERATIONS, SAME, Path
from cprime.selection.proposers import Proposer, by_gain
from cprime.selection.shapes import SHAPES, Mixture, merged, of_features
from cprime.selection.splits import Splits, variations
from cprime.theta import Theta
from cprime.typing import Array

# Shapes that a path may follow by itself, the richest first.
PATHS = ("full", "diag", "spherical")
# With more features, a full covariance has too many numbers to be looked for.
MOST_FEATURES = 30
# Another shape is fitted to the end only if it is not hopeless after so many
# iterations, that is worse by this much.
FIRST_ITERATIONS = 4
HOPELESS = 200.0
# Numbers of clusters that may be worse, one after another, before a shape is left.
WORSE = 2
# Rounds in which the leaders are varied, and how many clusters are tried in each.
ROUNDS = 8
TRIED = 3
# Shares of a cluster that has all but lost its rows.
LEAST_COUNT = 0.5


@dataclass
class Chooser:
    """Tries numbers and shapes of clusters, and keeps the best of each.

    Attributes
    ----------
    rows : MemoryRows
    kernel : Kernel
    shapes : tuple of str
    floor : ndarray of shape (D,)
        Smallest variance of every feature.
    most : int
        The largest number of clusters that is tried.
    seed : int
    held_out : MemoryRows, optional
    journal : Journal, optional
        Remembers what was computed.
    criterion : callable, default=bic_free_energy
        That will choose.
    proposer : callable, default=by_gain
        Which cluster of a path is split next.
    table : dict of Candidate
        By shape and number of clusters, those of highest L.
    apart : dict of Candidate
        By shape and number of clusters, fits whose clusters are all groups where those
        of highest L are not.
    """

    rows: MemoryRows
    kernel: Kernel
    shapes: tuple[str, ...]
    floor: Array
    most: int
    seed: int = 0
    held_out: MemoryRows | None = None
    journal: Journal = FORGETS
    criterion: Criterion = bic_free_energy
    proposer: Proposer = by_gain
    table: dict[tuple[str, int], Candidate] = field(default_factory=dict)
    apart: dict[tuple[str, int], Candidate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.weight = float(np.sum(self.rows.weights))
        self._tried: set[object] = set()
        self._sources: dict[str, dict[int, Mixture]] = {}
        self._groups: dict[object, Array] = {}
        self._splits: dict[str, Splits] = {}
        self._hopeless: set[tuple[str, int]] = set()

    def run(self) -> Iterator[Candidate]:
        """Yield every fit that is tried, when it is in the table."""
        yield from self._timed(self._every_fit())

    @property
    def candidates(self) -> list[Candidate]:
        """All fits that may be the answer."""
        return [*self.table.values(), *self.apart.values()]

    def best(self, criterion: Criterion, shape: str | None = None) -> Candidate:
        """Return the fit a criterion prefers, of one shape or of all."""
        found = (c for c in self.table.values() if shape in (None, c.shape))
        return min(found, key=lambda c: criterion(c.scores))

    def best_of_groups(self, criterion: Criterion) -> Candidate:
        """Return the fit a criterion prefers of those whose clusters are all groups.

        If there is none, one cluster.
        """
        ordered = sorted(self.candidates, key=lambda c: criterion(c.scores))
        one = next(c for c in ordered if c.C == 1)
        return next((c for c in ordered if self.are_groups(c)), one)

    def are_groups(self, candidate: Candidate) -> bool:
        """Return whether all clusters of a fit are groups of their own.

        A cluster at the floor is none: it is a value that many rows share.
        """
        if self._has_points(candidate):
            return False
        return int(self.groups(candidate).max()) + 1 == candidate.C

    def _has_points(self, candidate: Candidate) -> bool:
        """Return whether a cluster is at the floor, in features that vary at all."""
        theta, floor = candidate.theta, self.floor
        varying = np.ptp(self.rows.X, axis=0) > 0
        if np.ndim(theta.covariance) > 1 and varying.any():
            theta, floor = of_features(theta, varying), floor[varying]
        return bool(SHAPES[candidate.shape].model(floor).floored(theta))

    def groups(self, candidate: Candidate) -> Array:
        """Return the group of every cluster of a fit, shape (C,)."""
        if candidate.key not in self._groups:
            labels = self.fitter(candidate.shape).labels(candidate.theta)
            mixture = Mixture.of(candidate.theta)
            self._groups[candidate.key] = groups(
                mixture, self.rows.X, self.rows.weights, labels
            )
        return self._groups[candidate.key]

    def fitter(self, shape: str) -> Fitter:
        given = self.floor, self.weight, self.held_out, self.journal
        return Fitter(self.rows, self.kernel, shape, *given)

    def _every_fit(self) -> Iterator[Candidate]:
        hard = Path(self.fitter("k-means"), self.seed, True, self.proposer)
        yield from hard.grow(self.most)
        self._sources["k-means"] = {C: self._within(t) for C, t in hard.thetas.items()}
        shape = self._shape_of_path()
        if shape is not None:
            path = Path(self.fitter(shape), self.seed, proposer=self.proposer)
            yield from path.grow(self.most)
            yield from path.shrink(path.leader(bic) - WORSE)
            self._sources[shape] = {C: Mixture.of(t) for C, t in path.thetas.items()}
        yield from self._other_shapes()
        for criterion in (bic, icl, self.criterion):
            yield from self._varied(criterion)
        yield from self._grouped()

    def _timed(self, candidates: Iterator[Candidate]) -> Iterator[Candidate]:
        """Put fits in the table, with the seconds they took, and yield them."""
        began = self.journal.now()
        for found in candidates:
            now = self.journal.now()
            found, began = replace(found, seconds=now - began), now
            if found.shape in self.shapes:
                self._record(found)
                yield found

    def _record(self, found: Candidate) -> None:
        key = (found.shape, found.C)
        if _is_highest(found, self.table):
            old = self.table.get(key)
            if old is not None:
                # That of k-means itself, if it is better.
                best = max(found.scores.free_energy, old.scores.free_energy)
                found = replace(found, scores=found.scores._replace(free_energy=best))
            self.table[key] = found

    def _shape_of_path(self) -> str | None:
        for shape in PATHS:
            too_many = shape == "full" and self.rows.n_features > MOST_FEATURES
            if shape in self.shapes and self.fitter(shape).affords(2) and not too_many:
                return shape
        return None

    @one_thread()
    def _within(self, theta: Theta) -> Mixture:
        """Return the Gaussians of the rows of every cluster of k-means."""
        C, D = theta.means.shape
        labels = self.fitter("k-means").labels(theta)
        counts = np.bincount(labels, self.rows.weights, minlength=C)
        matrices = np.empty((C, D, D))
        for c, (mean, count) in enumerate(zip(theta.means, counts)):
            steps = self.rows.X[labels == c] - mean
            weights = self.rows.weights[labels == c, None]
            matrices[c] = (steps * weights).T @ steps / max(count, LEAST_COUNT)
            matrices[c] += np.diag(self.floor)
            if count <= D:
                matrices[c] += np.eye(D) * theta.covariance
        shares = np.maximum(counts, LEAST_COUNT)
        return Mixture(shares / shares.sum(), theta.means, matrices)

    def _other_shapes(self) -> Iterator[Candidate]:
        """Yield fits of all shapes about the numbers of clusters that look best."""
        known = {shape for shape, _ in self.table}
        starts = {self.best(of, s).C for of in (bic, icl) for s in known} or {1}
        for shape in self.shapes:
            for start in sorted(starts):
                for step in (1, -1):
                    yield from self._along(shape, start, step)

    def _along(self, shape: str, C: int, step: int) -> Iterator[Candidate]:
        """Yield fits of one shape with more and more, or fewer and fewer, clusters."""
        worse = 0
        while worse < WORSE and (shape, C) not in self._hopeless:
            yield from self._converted(shape, C)
            if (shape, C) not in self.table:
                return
            leaders = {self.best(of, shape).C for of in (bic, icl)}
            worse = 0 if C in leaders else worse + 1
            C += step

    def _converted(self, shape: str, C: int) -> Iterator[Candidate]:
        """Yield fits of a shape from those of paths of others, of as many clusters."""
        fitter = self.fitter(shape)
        if (shape, C) in self._tried or not fitter.affords(C):
            return
        self._tried.add((shape, C))
        for of_shape, source in self._sources.items():
            if C in source and of_shape != shape:
                start = SHAPES[shape].theta(source[C])
                found = fitter.fitted(start, FIRST_ITERATIONS)
                if self._is_hopeless(found):
                    self._hopeless.add((shape, C))
                else:
                    found = fitter.fitted(found.theta, MOST_ITERATIONS)
                yield found

    def _is_hopeless(self, found: Candidate) -> bool:
        """Return whether no criterion would choose a fit, nor one a bit better."""
        return bool(self.table) and all(
            of(found.scores) > of(self.best(of).scores) + HOPELESS
            for of in (bic, icl, self.criterion)
        )

    def _varied(self, criterion: Criterion) -> Iterator[Candidate]:
        """Yield fits next to the leader, until none is better."""
        for _ in range(ROUNDS):
            leader = self.best(criterion)
            if leader.key in self._tried:
                return
            self._tried.add(leader.key)
            fitter = self.fitter(leader.shape)
            # Of the leader before, most clusters are still the same.
            splits = self._splits.setdefault(leader.shape, Splits(fitter, self.seed))
            for theta in variations(fitter, splits, leader.theta, TRIED):
                if fitter.affords(len(theta.means)) and len(theta.means) <= self.most:
                    yield fitter.fitted(theta, MOST_ITERATIONS)

    def _grouped(self) -> Iterator[Candidate]:
        """Yield fits with one cluster for every group of the mixture BIC prefers.

        The highest L may cut a group in two, or have its tails as a cluster, and leave
        two other groups as one.
        """
        found = self.best(bic)
        fitter = self.fitter(found.shape)
        for _ in range(ROUNDS):
            group = self.groups(found)
            if group.max() + 1 == found.C:
                return
            start = fitter.of.theta(merged(Mixture.of(found.theta), group))
            found = fitter.fitted(start, MOST_ITERATIONS)
            if not _is_highest(found, self.table):
                self.apart[found.shape, found.C] = found
            yield found


def _is_highest(found: Candidate, known: dict[tuple[str, int], Candidate]) -> bool:
    """Return whether L is higher than that of the same shape and number."""
    old = known.get((found.shape, found.C))
    return old is None or found.scores.log_likelihood > old.scores.log_likelihood + SAME
