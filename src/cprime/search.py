"""Which clusters does a row look at, and when does it leave the one it has?"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Plan:
    """A search in numbers, as a kernel reads it.

    Attributes
    ----------
    reluctance : float
        A row leaves its cluster only for one whose squared distance is smaller than
        its own divided by this. At 1 nothing is kept: the closest cluster always wins,
        ties going to the lowest index.
    keep_hints : bool
        A kernel may note what saves work in the next sweep: there is one, and room.
    careful : bool
        A sweep has lost what was wanted to rounding, and there is a way that does not.
    """

    reluctance: float = 1.0
    keep_hints: bool = True
    careful: bool = False


class Search(Protocol):
    """A way to choose K, the clusters each row keeps."""

    def plan(self) -> Plan:
        """Return this search in numbers."""


@dataclass(frozen=True)
class Exact:
    """Every row takes its C' closest clusters, which maximises F over K (Cor. 1)."""

    def plan(self) -> Plan:
        return Plan()


@dataclass(frozen=True)
class Lazy:
    """A row moves only if (1 + eps) ||y - mu_new|| < ||y - mu_old|| (lazy-k-means).

    Every such move raises F (Prop. 1), and labels become part of the state of a fit.
    """

    eps: float

    def plan(self) -> Plan:
        return Plan(reluctance=(1.0 + self.eps) * (1.0 + self.eps))
