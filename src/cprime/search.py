"""Which clusters does a row look at, and when does it leave the one it has?"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from cprime.typing import Array


@dataclass(frozen=True)
class Near:
    """Rows look at clusters near the best they have, and at a few others.

    A row that keeps K looks at K, at the list of the first of K, and at clusters drawn
    for it. A row without clusters looks at all.

    Attributes
    ----------
    lists : ndarray of shape (C, any), int32
        For every cluster, different ones near it. They hold C' or more, or none at all:
        then rows keep what they have.
    n_explore : int
        Others that a row looks at, drawn anew in every sweep.
    key : int
        Of the sweep: what is drawn depends on it and on the number of the row alone.
    """

    lists: Array
    n_explore: int = 0
    key: int = 0

    def drawn(self, first: int, n_rows: int) -> Array:
        """Return the others that rows `first` and following look at, (n_rows, E)."""
        C, E = len(self.lists), self.n_explore
        with np.errstate(over="ignore"):
            numbers = np.arange(first * E, (first + n_rows) * E, dtype=np.uint64)
            bits = _scrambled(_scrambled(np.array(self.key, np.uint64)) + numbers)
        drawn = (bits >> np.uint64(32)) * np.uint64(C) >> np.uint64(32)
        return drawn.astype(np.int32).reshape(n_rows, E)


def _scrambled(numbers: Array) -> Array:
    """Return numbers that look random, as SplitMix64 does (Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        bits = numbers + np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        scrambled: Array = bits ^ (bits >> np.uint64(31))
    return scrambled


@dataclass(frozen=True)
class Plan:
    """A search in numbers, as a kernel reads it.

    Attributes
    ----------
    reluctance : float
        A row leaves a cluster only for one whose squared distance is smaller than its
        own divided by this. At 1 nothing is kept: the closest clusters always win, ties
        going to the lowest index.
    keep_hints : bool
        A kernel may note what saves work in the next sweep: there is one, and room.
    careful : bool
        A sweep has lost what was wanted to rounding, and there is a way that does not.
    near : Near, optional
        Rows look at some clusters. By default at all.
    """

    reluctance: float = 1.0
    keep_hints: bool = True
    careful: bool = False
    near: Near | None = None

    @property
    def needs_before(self) -> bool:
        """Whether the clusters of a row depend on those it had."""
        return self.reluctance != 1.0 or self.near is not None


class FindLists(Protocol):
    """Finds clusters near one another, under the parameters of an E-step."""

    def __call__(self, lists: Array | None, count: int) -> tuple[Array, int]:
        """Return lists of so many clusters near each, and distances computed for them.

        Of those on the lists of the ones a cluster has on its list; of all without.
        """


class Search(Protocol):
    """A way to choose K, the clusters each row keeps. It may learn on the way."""

    def plan(self) -> Plan:
        """Return this search in numbers."""

    def updated(self, find_lists: FindLists) -> tuple["Search", int]:
        """Return the search of the next E-step, and distances computed for it."""

    @property
    def is_partial(self) -> bool:
        """Whether rows look at some clusters only, once lists of them are known."""

    @property
    def depends_on_K(self) -> bool:
        """Whether the clusters a row gets may depend on those it has."""

    @property
    def last(self) -> "Search":
        """The search that a fit ends with."""

    def surprised(self) -> "Search":
        """Return the search after clusters have jumped."""


@dataclass(frozen=True)
class Exact:
    """Every row takes its C' closest clusters, which maximises F over K (Cor. 1)."""

    def plan(self) -> Plan:
        return Plan()

    def updated(self, find_lists: FindLists) -> tuple[Search, int]:
        return self, 0

    @property
    def is_partial(self) -> bool:
        return False

    @property
    def depends_on_K(self) -> bool:
        return self.plan().needs_before

    @property
    def last(self) -> Search:
        return self

    def surprised(self) -> Search:
        return self


@dataclass(frozen=True)
class Lazy(Exact):
    """A row moves only if (1 + eps) ||y - mu_new|| < ||y - mu_old|| (lazy-k-means).

    With C' > 1 it swaps one of its clusters for another on the same condition, the
    farthest first. Every such move raises F (Prop. 1), and K becomes part of the state
    of a fit.
    """

    eps: float

    def plan(self) -> Plan:
        return Plan(reluctance=(1.0 + self.eps) * (1.0 + self.eps))


@dataclass(frozen=True)
class Neighbours:
    """A row takes the C' closest of few clusters, near the one that was its closest.

    Those it has are among them, so F cannot fall (Prop. 1), and what a sweep costs does
    not depend on C. Which clusters are near which follows from their means. Averaged
    over the rows of a cluster, the divergence to another is, but for a constant, the
    squared distance of their mean to its own: to add up votes of rows would say the
    same later.

    Attributes
    ----------
    n_neighbors : int
        Clusters on the list of each, itself included; C' or more.
    n_explore : int
        Others that each row looks at, drawn at random.
    is_exact_at_end : bool
        Whether a fit goes on by looking at all clusters, once it rises slowly without.
    iteration : int
        E-steps so far.
    lists : ndarray of shape (C, n_neighbors), optional
        As of the last of them.
    """

    n_neighbors: int
    n_explore: int = 1
    is_exact_at_end: bool = True
    iteration: int = 0
    lists: Array | None = None

    def plan(self) -> Plan:
        if self.lists is None:
            return Plan()
        return Plan(near=Near(self.lists, self.n_explore, self.iteration))

    def updated(self, find_lists: FindLists) -> tuple[Search, int]:
        lists, evaluations = find_lists(self.lists, self.n_neighbors)
        after = replace(self, iteration=self.iteration + 1, lists=lists)
        return after, evaluations

    @property
    def is_partial(self) -> bool:
        return True

    @property
    def depends_on_K(self) -> bool:
        return True

    @property
    def last(self) -> Search:
        return Exact() if self.is_exact_at_end else self

    def surprised(self) -> Search:
        """Return the search that finds lists anew, among all clusters."""
        return replace(self, lists=None)
