"""Candidates for seeds among rows on the device, where what is noted of each row stays.

As those of `cprime.parallel_seeding`: rows stand in the order of random keys, and a
draw is a point on their cumulated masses. Masses are cumulated as whole numbers, which
have the same sums in any order, so the same rows are drawn in every run.
"""

import math
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from cprime.blocks import few_here
from cprime.kernels.gpu.canonical import distances_of
from cprime.kernels.gpu.closest import Search
from cprime.kernels.gpu.devices import to_device, told_if_full
from cprime.kernels.gpu.kept import DeviceKept
from cprime.kernels.gpu.model import DeviceModel
from cprime.kernels.gpu.residents import DeviceBlock
from cprime.kernels.gpu.sums import ByCluster
from cprime.ordering import MULTIPLIERS, SHIFTS, places_by_value
from cprime.typing import Array

ROWS = 128
# All masses together are at most two to this power.
MASS_BITS = 61


@triton.jit(do_not_specialize=["n_rows"])
def _keys_of(
    rows,
    middle,
    direction,
    unit,
    salt,
    keys,
    n_rows,
    D,
    FIRST: tl.constexpr,
    SECOND: tl.constexpr,
    THIRD: tl.constexpr,
    ONE: tl.constexpr,
    OTHER: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Mix the bits of where rows lie along a direction, feature after feature."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    place = tl.zeros((ROWS,), dtype=tl.float64)
    for d in range(D):
        y = tl.load(rows + row * D + d, mask=inside, other=0).to(tl.float64)
        place += (y - tl.load(middle + d)) * tl.load(direction + d)
    # Zero has two signs.
    place = place * tl.load(unit) + 0.0
    bits = place.to(tl.uint64, bitcast=True) ^ tl.load(salt).to(tl.uint64, bitcast=True)
    bits = (bits ^ (bits >> FIRST)) * tl.full((ROWS,), ONE, dtype=tl.uint64)
    bits = (bits ^ (bits >> SECOND)) * tl.full((ROWS,), OTHER, dtype=tl.uint64)
    bits = bits ^ (bits >> THIRD)
    tl.store(keys + row, bits.to(tl.int64, bitcast=True), mask=inside)


class Candidates:
    """Rows that may become seeds, and which of them every row is nearest to.

    Parameters
    ----------
    block : DeviceBlock
    direction : Direction
        Of random keys, as `cprime.sampling` has it, with a salt for them.
    salt : int

    Attributes
    ----------
    count : int
    evaluations : int
        Distances computed.
    """

    @told_if_full()
    def __init__(self, block: DeviceBlock, direction: Any, salt: int):
        self._block, self._n_rows = block, block.n_rows
        self._means: list[Array] = []
        self.count, self.evaluations = 0, block.n_rows
        middle = DeviceModel.of_means(direction.middle[None])
        numbers = [np.array([direction.unit]), np.array([salt], dtype=np.int64)]
        unit, salted = (to_device(of) for of in numbers)
        along, device = to_device(direction.direction), middle.means.device
        keys = torch.empty(self._n_rows, dtype=torch.int64, device=device)
        self._nearest = torch.empty(self._n_rows, dtype=torch.float64, device=device)
        self._weights = torch.empty_like(self._nearest)
        for piece in block:
            n_rows, D = piece.rows.shape
            _keys_of[(triton.cdiv(n_rows, ROWS),)](
                piece.rows,
                middle.means,
                along,
                unit,
                salted,
                keys[piece.place],
                n_rows,
                D,
                *SHIFTS,
                *MULTIPLIERS,
                ROWS=ROWS,
                num_warps=4,
                enable_fp_fusion=False,
            )
            first = torch.zeros((n_rows, 1), dtype=torch.int32, device=device)
            far = distances_of(piece.rows, first, middle, 1)[:, 0]
            self._nearest[piece.place] = far
            self._weights[piece.place] = piece.weights
        self._owner: torch.Tensor | None = None
        # In the order of keys as they are without a sign.
        self._keys, self._order = torch.sort(keys ^ torch.iinfo(torch.int64).min)

    @told_if_full()
    def add(self, points: Array, by_distance: bool = True) -> bool:
        """Draw rows that are no candidates yet; return whether there are any.

        By weight times squared distance to the nearest candidate, at first to the
        middle; or by weight alone.
        """
        nearest = self._nearest
        if not by_distance:
            known = self._owner is not None
            nearest = (nearest > 0).double() if known else torch.ones_like(nearest)
        rows = np.unique(self._drawn(self._weights * nearest, points))
        if len(rows) == 0:
            return False
        means = np.unique(self._values(rows), axis=0)
        if self._owner is None:
            self._owner = torch.zeros_like(self._nearest, dtype=torch.int32)
            self._nearest.fill_(torch.inf)
        model = DeviceModel.of_means(means)
        for piece in self._block:
            search = Search(model, piece.frame)
            found = search.closest(piece.rows, piece.halves, 1)
            distances, of_new = found.distances[:, 0], found.K[:, 0] + self.count
            nearest, owner = self._nearest[piece.place], self._owner[piece.place]
            nearer = distances < nearest
            owner.copy_(torch.where(nearer, of_new, owner))
            nearest.copy_(torch.where(nearer, distances, nearest))
        self._means.append(means)
        self.count += len(means)
        self.evaluations += len(means) * self._n_rows
        return True

    @property
    def means(self) -> Array:
        """All of them, shape (count, D)."""
        return np.concatenate(self._means)

    def weights(self) -> Array:
        """Return the weight of the rows nearest to each of them."""
        assert self._owner is not None
        pairs = ByCluster(self._owner[:, None], self.count)
        of_nodes = pairs.segments.folded(pairs.sums_of_pairs(self._weights))
        found: Array = torch.stack(of_nodes).sum(dim=0).cpu().numpy()
        return found

    def kept(self, closest: Array) -> DeviceKept:
        """Return as K what each row's nearest candidate is closest to."""
        assert self._owner is not None
        return DeviceKept(to_device(closest.astype(np.int32))[self._owner.long(), None])

    def _drawn(self, masses: torch.Tensor, points: Array) -> Array:
        """Return the row at each of these points, in [0, 1), of the cumulated masses.

        Of identical rows it may be any. None at all if no row has any mass.
        """
        largest = float(masses.max())
        if largest == 0.0:
            return np.empty(0, dtype=np.int64)
        _, exponent = math.frexp(largest * self._n_rows)
        scale = math.ldexp(1.0, MASS_BITS - exponent)
        places = self._places(masses, scale, points)
        if self._separate(places):
            places = self._places(masses, scale, points)
        drawn: Array = self._order[places].cpu().numpy()
        return drawn

    def _places(
        self, masses: torch.Tensor, scale: float, points: Array
    ) -> torch.Tensor:
        """Return where in the order of keys the points fall."""
        cumulated = (masses[self._order] * scale).long().cumsum(dim=0)
        wanted = (to_device(points) * cumulated[-1].double()).long()
        wanted = wanted.clamp(max=cumulated[-1] - 1)
        return torch.searchsorted(cumulated, wanted, right=True)

    def _separate(self, places: torch.Tensor) -> bool:
        """Put rows that share a key with one of these in the order of their values.

        Different ones may; return whether there were any.
        """
        keys = self._keys[places].unique()
        first = torch.searchsorted(self._keys, keys)
        stop = torch.searchsorted(self._keys, keys, right=True)
        groups = torch.stack([first, stop])[:, stop - first > 1].cpu().numpy()
        if groups.shape[1] == 0:
            return False
        shared = to_device(np.concatenate([np.arange(*group) for group in groups.T]))
        rows = self._order[shared].cpu().numpy()
        value = places_by_value(self._values(rows))
        by_value = np.lexsort((value, self._keys[shared].cpu().numpy()))
        self._order[shared] = to_device(rows[by_value])
        return True

    def _values(self, rows: Array) -> Array:
        """Return these rows in the memory of the host, float64."""
        return few_here(self._block.block.dense(rows)).astype(np.float64)
