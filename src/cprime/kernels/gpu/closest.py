"""Which clusters are the closest, to the last row?

Scores of halves name candidates, and a bound on the error of scores says for which rows
another cluster may be as close. Those look at canonical distances of their candidates,
and what is still in doubt at those of all clusters. Where rows keep several clusters,
canonical distances put them in order.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import triton

from cprime.kernels.gpu.all_pairs import distances_to_all
from cprime.kernels.gpu.canonical import PROGRAMS_OF_LISTED, Listed, distances_of
from cprime.kernels.gpu.doubts import ROUNDING, order, trust
from cprime.kernels.gpu.halves import Frame, MeanHalves, RowHalves
from cprime.kernels.gpu.model import DeviceModel
from cprime.kernels.gpu.ranking import Ranked, ranked
from cprime.kernels.gpu.settling import settle_among_all

# With fewer clusters, or more kept, canonical distances to all of them are as fast.
FEWEST_CLUSTERS = 64
MOST_KEPT = 32
# More candidates than clusters that are kept.
SPARE = 2
# Distances to all clusters that are in memory at once.
DISTANCES_AT_ONCE = 2**27
ROWS = 32
ROWS_OF_SCORES = 512


class Closest(NamedTuple):
    """The clusters a row keeps, best first, and their squared distances.

    Attributes
    ----------
    K : tensor of shape (B, C'), int32
    distances : tensor of shape (B, C'), float64
    """

    K: torch.Tensor
    distances: torch.Tensor


class Search:
    """Finds the closest clusters of one model.

    Parameters
    ----------
    model : DeviceModel
    frame : Frame
        Of the rows it will be asked about.
    """

    def __init__(self, model: DeviceModel, frame: Frame):
        self.model, self.frame = model, frame

    def nearest(
        self, rows: torch.Tensor, halves: Callable[[], RowHalves]
    ) -> torch.Tensor:
        """Return the closest cluster of every row, shape (B, 1), int32.

        Parameters
        ----------
        rows : tensor of shape (B, D)
        halves : callable
            Returns those of the rows, if they are asked for.
        """
        if not self._ranks(1):
            return self._among_all(rows, 1).K
        ranks = _Ranks.of(self.model, self.frame, halves(), 1)
        K = torch.empty((len(rows), 1), dtype=torch.int32, device=rows.device)
        listed = ranks.trusted(K)
        listed = ranks.ordered(rows, ranks.wanted, K, K, listed)
        settle_among_all(rows, K, self.model, listed)
        return K

    def closest(
        self, rows: torch.Tensor, halves: Callable[[], RowHalves], C_prime: int
    ) -> Closest:
        """Return the C' closest clusters of every row; parameters as for `nearest`."""
        if not self._ranks(C_prime):
            return self._among_all(rows, C_prime)
        if C_prime == 1:
            K = self.nearest(rows, halves)
            return Closest(K, distances_of(rows, K, self.model, 1))
        ranks = _Ranks.of(self.model, self.frame, halves(), C_prime)
        K = torch.empty((len(rows), C_prime), dtype=torch.int32, device=rows.device)
        kept = torch.empty(K.shape, dtype=torch.float64, device=rows.device)
        listed = ranks.ordered(rows, C_prime, K, kept)
        listed = ranks.ordered(rows, ranks.wanted, K, kept, listed)
        n_doubtful = int(listed.count)
        if n_doubtful > 0:
            last = listed.places[:n_doubtful].long()
            K[last], kept[last] = self._among_all(rows[last], C_prime)
        return Closest(K, kept)

    def _ranks(self, C_prime: int) -> bool:
        model = self.model
        return (
            max(FEWEST_CLUSTERS, 2 * C_prime) <= model.C
            and C_prime <= MOST_KEPT
            and not (model.is_of_clusters or model.is_of_features)
        )

    def _among_all(self, rows: torch.Tensor, C_prime: int) -> Closest:
        """Return the closest clusters by canonical distances to all of them."""
        K = torch.empty((len(rows), C_prime), dtype=torch.int32, device=rows.device)
        kept = torch.empty(K.shape, dtype=torch.float64, device=rows.device)
        at_once = max(1, DISTANCES_AT_ONCE // self.model.C)
        for start in range(0, len(rows), at_once):
            part = slice(start, start + at_once)
            distances = distances_to_all(rows[part], self.model)
            scores = distances + self.model.handicaps
            if C_prime == 1:
                places = scores.argmin(dim=1, keepdim=True)
            else:
                places = scores.sort(dim=1, stable=True).indices[:, :C_prime]
            K[part], kept[part] = places, distances.gather(1, places)
        return Closest(K, kept)


class _Ranks(NamedTuple):
    """Candidates of rows, and what it takes to know whether they are right."""

    model: DeviceModel
    frame: Frame
    of_rows: RowHalves
    means: MeanHalves
    found: Ranked
    C_prime: int

    @classmethod
    def of(
        cls, model: DeviceModel, frame: Frame, of_rows: RowHalves, C_prime: int
    ) -> "_Ranks":
        """Return the candidates of rows for their C' closest clusters."""
        means = MeanHalves.of(model, frame)
        found = ranked(
            of_rows.values, means.values, means.offsets, C_prime, C_prime + SPARE
        )
        return cls(model, frame, of_rows, means, found, C_prime)

    @property
    def wanted(self) -> int:
        return self.found.clusters.shape[1]

    def trusted(self, K: torch.Tensor) -> Listed:
        """Put first candidates into K; return the rows that may have better ones."""
        found, of_rows, into = self.found, self.of_rows, _nobody(K)
        trust[(triton.cdiv(len(K), ROWS_OF_SCORES),)](
            found.clusters,
            found.best,
            found.following,
            of_rows.norms,
            of_rows.errors,
            self.means.share,
            self.frame.numbers,
            K,
            into.places,
            into.count,
            len(K),
            self.wanted,
            of_rows.values.shape[1],
            2**found.bits,
            ROUNDING=ROUNDING,
            ROWS=ROWS_OF_SCORES,
            num_warps=4,
        )
        return into

    def ordered(
        self,
        rows: torch.Tensor,
        width: int,
        K: torch.Tensor,
        kept: torch.Tensor,
        listed: Listed | None = None,
    ) -> Listed:
        """Put the best of `width` candidates into K; return rows that may have better.

        Their distances go into `kept`, of rows that keep several. Of listed rows alone,
        if there is a list.
        """
        found, of_rows, into = self.found, self.of_rows, _nobody(K)
        distances = distances_of(rows, found.clusters, self.model, width, listed)
        n_programs = triton.cdiv(len(K), ROWS)
        if listed is not None:
            n_programs = min(n_programs, PROGRAMS_OF_LISTED)
        order[(n_programs,)](
            found.clusters,
            distances,
            self.model.handicaps,
            found.following if width == self.C_prime else found.rest,
            of_rows.norms,
            of_rows.errors,
            self.means.share,
            self.frame.numbers,
            K,
            kept,
            into.places if listed is None else listed.places,
            into.count if listed is None else listed.count,
            into.places,
            into.count,
            len(K),
            self.model.C,
            self.wanted,
            self.C_prime,
            width,
            of_rows.values.shape[1],
            2**found.bits,
            PADDED=triton.next_power_of_2(width),
            LISTED=listed is not None,
            ROUNDING=ROUNDING,
            ROWS=ROWS,
            num_warps=4,
        )
        return into


def _nobody(K: torch.Tensor) -> Listed:
    """Return a list with room for all rows, and none on it."""
    places = torch.empty(len(K), dtype=torch.int32, device=K.device)
    return Listed(places, torch.zeros(1, dtype=torch.int32, device=K.device))
