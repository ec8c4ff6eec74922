"""Which clusters are the closest, to the last row?

Scores of halves name candidates, canonical distances put them in order, and a bound on
the error of scores says for which rows another cluster may be as close. Those look at
more candidates, and what is still in doubt at canonical distances to all clusters.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import triton
import triton.language as tl

from cprime.kernels.gpu.canonical import Listed, distances_of, distances_to_all
from cprime.kernels.gpu.halves import Frame, MeanHalves, RowHalves
from cprime.kernels.gpu.model import DeviceModel
from cprime.kernels.gpu.ranking import ranked

# With fewer clusters, or more kept, canonical distances to all of them are as fast.
FEWEST_CLUSTERS = 64
MOST_KEPT = 32
# More candidates than clusters that are kept.
SPARE = 2
# Distances to all clusters that are in memory at once.
DISTANCES_AT_ONCE = 2**27
# Of float32: what a rounding leaves out. Tensor cores may truncate every product and
# every partial sum.
ROUNDING = 2.0**-23
ROWS = 32


class Closest(NamedTuple):
    """The clusters a row keeps, best first, and their squared distances.

    Attributes
    ----------
    K : tensor of shape (B, C'), int32
    distances : tensor of shape (B, C'), float64
    """

    K: torch.Tensor
    distances: torch.Tensor


@triton.jit
def _highest_score(z, norm, error, share, numbers, sums, packing):
    """Return what a score of halves may be, at most, of a cluster as close as `z`.

    Such a cluster is at most ||y|| + sqrt(z) long. Without errors its score would be
    z - ||y||^2 at most; halves of the row and of the mean, sums of float32 and the
    number of a tile in the last bits of a score each add what they may.
    """
    scale, blur, least = tl.load(numbers), tl.load(numbers + 1), tl.load(numbers + 2)
    z = z * scale * scale
    reach = tl.sqrt(z) + 4.0 * blur
    length = norm + reach
    near = norm + error
    of_halves = 2.0 * error * length + 2.0 * near * (share * length + least)
    of_sums = 2.0 * sums * near * length * (1.0 + share)
    of_floats = (packing + 1e-13) * (length * length + 2.0 * near * length)
    return z - norm * norm + of_halves + of_sums + of_floats + 8.0 * blur * reach


@triton.jit(
    do_not_specialize=["n_rows", "C", "stride", "n_kept", "width", "products", "tiles"]
)
def _order(
    candidates,
    distances,
    handicaps,
    others,
    norms,
    errors,
    share,
    numbers,
    K,
    kept,
    listed,
    count,
    doubtful,
    n_doubtful,
    n_rows,
    C,
    stride,
    n_kept,
    width,
    products,
    tiles,
    PADDED: tl.constexpr,
    LISTED: tl.constexpr,
    ROUNDING: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Keep the best of the candidates, and list the rows that may have better ones."""
    place = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    row = place
    if LISTED:
        n_rows = tl.load(count)
        row = tl.load(listed + place, mask=place < n_rows, other=0).to(tl.int64)
    inside = place < n_rows
    column = tl.arange(0, PADDED)
    there = inside[:, None] & (column < width)[None, :]
    of_row = row[:, None] * stride + column[None, :]
    cluster = tl.load(candidates + of_row, mask=there, other=C)
    far = place[:, None] * width + column[None, :]
    distance = tl.load(distances + far, mask=there, other=float("inf"))
    known = there & (cluster < C)
    score = distance + tl.load(handicaps + cluster, mask=known, other=0)
    # Ties go to the lowest index; what is no cluster comes last, in its own order.
    one, other = score[:, :, None], score[:, None, :]
    one_of, other_of = cluster[:, :, None], cluster[:, None, :]
    first = (column[:, None] < column[None, :])[None, :, :]
    level = (one == other) & ((one_of < other_of) | ((one_of == other_of) & first))
    rank = tl.sum(((one < other) | level).to(tl.int32), 1)
    at = row[:, None] * n_kept + rank
    tl.store(K + at, cluster, mask=there & (rank < n_kept))
    tl.store(kept + at, distance, mask=there & (rank < n_kept))
    last = tl.sum(tl.where(rank == n_kept - 1, score, 0.0), 1)
    highest = _highest_score(
        last,
        tl.load(norms + row, mask=inside, other=0),
        tl.load(errors + row, mask=inside, other=0).to(tl.float64),
        tl.load(share),
        numbers,
        ROUNDING * products,
        ROUNDING * (tiles + 2),
    )
    lowest = tl.load(others + row, mask=inside, other=0).to(tl.float64)
    # What is no number is in doubt.
    doubts = inside & ~(lowest > highest)
    n = tl.sum(doubts.to(tl.int32), 0)
    if n > 0:
        start = tl.atomic_add(n_doubtful, n)
        behind = tl.cumsum(doubts.to(tl.int32), 0) - 1
        tl.store(doubtful + start + behind, row.to(tl.int32), mask=doubts)


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
        self.n_doubtful = 0

    def closest(
        self, rows: torch.Tensor, halves: Callable[[], RowHalves], C_prime: int
    ) -> Closest:
        """Return the C' closest clusters of every row.

        Parameters
        ----------
        rows : tensor of shape (B, D)
        halves : callable
            Returns those of the rows, if they are asked for.
        C_prime : int
        """
        if not self._ranks(C_prime):
            return self._among_all(rows, C_prime)
        of_rows = halves()
        model, means = self.model, MeanHalves.of(self.model, self.frame)
        wanted = C_prime + SPARE
        found = ranked(of_rows.values, means.values, means.offsets, C_prime, wanted)
        device, n_rows = rows.device, len(rows)
        K = torch.empty((n_rows, C_prime), dtype=torch.int32, device=device)
        kept = torch.empty((n_rows, C_prime), dtype=torch.float64, device=device)
        listed: Listed | None = None
        for width, others in ((C_prime, found.following), (wanted, found.rest)):
            distances = distances_of(rows, found.clusters, model, width, listed)
            doubtful = torch.empty(n_rows, dtype=torch.int32, device=device)
            count = torch.zeros(1, dtype=torch.int32, device=device)
            _order[(triton.cdiv(n_rows, ROWS),)](
                found.clusters,
                distances,
                model.handicaps,
                others,
                of_rows.norms,
                of_rows.errors,
                means.share,
                self.frame.numbers,
                K,
                kept,
                doubtful if listed is None else listed.places,
                count if listed is None else listed.count,
                doubtful,
                count,
                n_rows,
                model.C,
                wanted,
                C_prime,
                width,
                of_rows.values.shape[1],
                2**found.bits,
                PADDED=triton.next_power_of_2(width),
                LISTED=listed is not None,
                ROUNDING=ROUNDING,
                ROWS=ROWS,
                num_warps=4,
            )
            listed = Listed(doubtful, count)
        self.n_doubtful = int(count)
        if self.n_doubtful > 0:
            last = doubtful[: self.n_doubtful].long()
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
