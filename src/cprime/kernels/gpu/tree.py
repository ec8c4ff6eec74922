"""Where do sums over leaves come together? In the tree of `LeafSum`, on the device."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from cprime.blocks import LEAF_ROWS
from cprime.kernels.gpu.devices import to_device
from cprime.stats import Stats
from cprime.summation import LeafSum, Node
from cprime.typing import Array

# Sums of one number, as they lie side by side.
SCALARS = (
    "scatter",
    "quantization_error",
    "entropy",
    "free_energy",
    "weight",
    "evaluations",
    "changed",
)
# Of what one program folds.
PAIRS, COLUMNS = 16, 64


@triton.jit(do_not_specialize=["n_segments"])
def _fold(values, n_segments, n_columns, PAIRS: tl.constexpr, COLUMNS: tl.constexpr):
    """Add siblings up in place, level by level: a node's sum is where it begins."""
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    width = 1
    while 2 * width <= n_segments:
        n_pairs = n_segments // (2 * width)
        for first in range(0, n_pairs, PAIRS):
            pair = first + tl.arange(0, PAIRS)
            there = (pair < n_pairs)[:, None] & (column < n_columns)[None, :]
            start = (pair * 2 * width).to(tl.int64)
            left = values + start[:, None] * n_columns + column[None, :]
            right = left + width * n_columns
            of_right = tl.load(right, mask=there, other=0)
            tl.store(left, tl.load(left, mask=there, other=0) + of_right, mask=there)
        # Others of this program go on with what was stored.
        tl.debug_barrier()
        width *= 2


@dataclass(frozen=True)
class Segments:
    """Runs of leaves, each a node of the tree, that are summed one by one.

    Attributes
    ----------
    nodes : tuple of (start, level)
        The largest nodes of the tree that rows of so many leaves have.
    level : int
        Segments have 2**level leaves, or are a node that has fewer.
    starts : ndarray of shape (S + 1,)
        The first leaf of every segment, and how many leaves there are.
    """

    nodes: tuple[tuple[int, int], ...]
    level: int
    starts: Array

    @classmethod
    @cache
    def of_rows(cls, n_rows: int, level: int) -> "Segments":
        """Return the segments of so many rows, the same ones every time."""
        n_leaves = -(-n_rows // LEAF_ROWS)
        nodes: list[tuple[int, int]] = []
        starts: list[int] = []
        start = 0
        while start < n_leaves:
            highest = (n_leaves - start).bit_length() - 1
            nodes.append((start, highest))
            starts += range(start, start + 2**highest, 2 ** min(level, highest))
            start += 2**highest
        return cls(tuple(nodes), level, np.array([*starts, n_leaves]))

    @property
    def count(self) -> int:
        return len(self.starts) - 1

    def folded(self, of_segments: torch.Tensor) -> list[torch.Tensor]:
        """Return the sums of all nodes, of those of the segments, which are lost.

        Parameters
        ----------
        of_segments : contiguous tensor of shape (S, ...), float64
        """
        # The others are nodes by themselves.
        whole = int(self.starts[-1]) >> self.level
        n_columns = of_segments[0].numel()
        if whole > 1:
            _fold[(triton.cdiv(n_columns, COLUMNS),)](
                of_segments, whole, n_columns, PAIRS=PAIRS, COLUMNS=COLUMNS, num_warps=4
            )
        found, first = [], 0
        for _, level in self.nodes:
            found.append(of_segments[first])
            first += 2 ** max(0, level - self.level)
        return found

    @cached_property
    def first_leaves(self) -> torch.Tensor:
        """The first leaf of every segment, shape (S,), int32."""
        return to_device(self.starts[:-1].astype(np.int32))

    @cached_property
    def of_leaves(self) -> torch.Tensor:
        """The segment of every leaf, int32."""
        counts = np.diff(self.starts)
        return to_device(np.repeat(np.arange(self.count, dtype=np.int32), counts))


@dataclass(frozen=True)
class DeviceSums:
    """Sums over rows that stay on the device until the sum of all is known.

    Attributes
    ----------
    moments : tensor of shape (C, D + 1)
        sum q_c (y - mu_c), and sum q_c behind the features.
    scatter : tensor, or None
        Of every cluster, or of every cluster and feature; None if it is one number.
    scalars : tensor of shape (7,)
        The numbers in `SCALARS`.
    """

    moments: torch.Tensor
    scatter: torch.Tensor | None
    scalars: torch.Tensor

    def __add__(self, other: "DeviceSums") -> "DeviceSums":
        scatter = self.scatter
        if scatter is not None and other.scatter is not None:
            scatter = scatter + other.scatter
        moments = self.moments + other.moments
        return replace(
            self,
            moments=moments,
            scatter=scatter,
            scalars=self.scalars + other.scalars,
        )

    def stats(self) -> Stats:
        """Return them as statistics in the memory of the host."""
        moments = self.moments.cpu().numpy()
        of = dict(zip(SCALARS, self.scalars.tolist(), strict=True))
        if self.scatter is not None:
            of["scatter"] = self.scatter.cpu().numpy()
        of["evaluations"], of["changed"] = int(of["evaluations"]), int(of["changed"])
        return Stats(counts=moments[:, -1].copy(), shifts=moments[:, :-1].copy(), **of)


def leaf_sum(
    segments: Segments,
    moments: torch.Tensor,
    scatter: torch.Tensor | None,
    of_leaves: torch.Tensor,
    whitening: torch.Tensor,
) -> LeafSum:
    """Return the sums of rows from those of their segments, which are lost.

    Parameters
    ----------
    segments : Segments
    moments : tensor of shape (S, C, D + 1)
    scatter : tensor of shape (S, C) or (S, C, D), or None
    of_leaves : tensor of shape (L, 7)
        The numbers in `SCALARS` of every leaf.
    whitening : tensor
        Scatters of one for each cluster are whitened; the sum of all is not.
    """
    of_nodes = segments.folded(moments)
    scatters: list[Any] = [None] * len(of_nodes)
    if scatter is not None:
        scatters = segments.folded(scatter)
    scalars = replace(segments, level=0).folded(of_leaves)
    nodes = tuple(
        Node(start, level, DeviceSums(*of))
        for (start, level), *of in zip(segments.nodes, of_nodes, scatters, scalars)
    )

    def settle(sums: DeviceSums) -> Stats:
        if sums.scatter is None or whitening.ndim != 1:
            return sums.stats()
        return replace(sums, scatter=sums.scatter / whitening**2).stats()

    return LeafSum(nodes, settle)
