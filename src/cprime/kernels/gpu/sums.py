"""What do rows add up to, cluster by cluster? With the bits of the order in `LeafSum`.

Rows are put in the order of their clusters, and one program walks along the rows of one
cluster in some leaves: it adds up a leaf, then leaves to the nodes of the tree. Nothing
depends on which program comes first, so every run finds the same bits.
"""

import torch
import triton
import triton.language as tl

from cprime.blocks import LEAF_ROWS
from cprime.kernels.gpu.tree import Segments

# A program has this many rows to walk along, if clusters are equal.
ROWS_OF_PROGRAM = 16
# It adds up leaves of the tree to so many levels, at most.
LEVELS = 5
MOST_FEATURES = 128


@triton.jit
def _carry(total, waiting, now, differs, LEVEL: tl.constexpr):
    """Take the sum of the leaves up to `now` one level higher, before another leaf.

    Either both halves of the node are complete, or the sum waits for its sibling.
    """
    complete = (differs >> (LEVEL + 1)) != 0
    waits = (differs >> LEVEL) == 1
    is_right = ((now >> LEVEL) & 1) != 0
    higher = tl.where(complete & is_right, waiting + total, total)
    waiting = tl.where(waits, total, tl.where(complete, 0.0, waiting))
    return tl.where(waits, 0.0, higher), waiting


@triton.jit(do_not_specialize=["n_segments", "start", "stop", "kept"])
def _sum_of_clusters(
    rows,
    means,
    order,
    offsets,
    shares,
    first_leaves,
    sums,
    n_segments,
    D,
    start,
    stop,
    kept,
    SHARED: tl.constexpr,
    SQUARED: tl.constexpr,
    LEAF: tl.constexpr,
    FEATURES: tl.constexpr,
):
    """Add up w q (y - mu), or its square, of one cluster's rows in one segment.

    Of features from `start` to `stop`; behind the features a share counts once.
    """
    group = tl.program_id(0).to(tl.int64)
    cluster, segment = group // n_segments, group % n_segments
    d = start + tl.program_id(1) * FEATURES + tl.arange(0, FEATURES)
    mu = tl.load(means + cluster * D + d, mask=d < D, other=0)
    begin, end = tl.load(offsets + group), tl.load(offsets + group + 1)
    first_leaf = tl.load(first_leaves + segment)
    total = tl.zeros((FEATURES,), dtype=tl.float64)
    a = tl.zeros((FEATURES,), dtype=tl.float64)
    b = tl.zeros((FEATURES,), dtype=tl.float64)
    c = tl.zeros((FEATURES,), dtype=tl.float64)
    e = tl.zeros((FEATURES,), dtype=tl.float64)
    f = tl.zeros((FEATURES,), dtype=tl.float64)
    now = 0
    for i in range(begin, end):
        pair = tl.load(order + i).to(tl.int64)
        row = pair // kept
        leaf = (row // LEAF).to(tl.int32) - first_leaf
        if leaf != now:
            differs = leaf ^ now
            total, a = _carry(total, a, now, differs, 0)
            total, b = _carry(total, b, now, differs, 1)
            total, c = _carry(total, c, now, differs, 2)
            total, e = _carry(total, e, now, differs, 3)
            total, f = _carry(total, f, now, differs, 4)
            now = leaf
        y = tl.load(rows + row * D + d, mask=d < D, other=0).to(tl.float64)
        difference = tl.where(d < D, y - mu, 1.0)
        if SQUARED:
            difference = difference * difference
        if SHARED:
            difference = tl.load(shares + pair) * difference
        total += difference
    total = tl.where((now & 1) != 0, a + total, total)
    total = tl.where((now & 2) != 0, b + total, total)
    total = tl.where((now & 4) != 0, c + total, total)
    total = tl.where((now & 8) != 0, e + total, total)
    total = tl.where((now & 16) != 0, f + total, total)
    at = (segment * (tl.num_programs(0) // n_segments) + cluster) * (D + 1) + d
    tl.store(sums + at, total, mask=d < stop)


@triton.jit(do_not_specialize=["n_rows", "n_columns"])
def _sum_of_leaves(values, sums, n_rows, n_columns, LEAF: tl.constexpr):
    """Add up one column of numbers of the rows of one leaf."""
    leaf, column = tl.program_id(0).to(tl.int64), tl.program_id(1)
    row = leaf * LEAF + tl.arange(0, LEAF)
    there = tl.load(
        values + column.to(tl.int64) * n_rows + row, mask=row < n_rows, other=0
    )
    tl.store(sums + leaf * n_columns + column, tl.sum(there, 0))


def segments_of(n_rows: int, C: int, kept: int) -> Segments:
    """Return segments in which a cluster has not too many rows to walk along."""
    n_leaves = -(-n_rows // LEAF_ROWS)
    wanted = max(1, n_rows * kept // (C * ROWS_OF_PROGRAM))
    level = max(0, (n_leaves // wanted).bit_length() - 1)
    return Segments.of_rows(n_rows, min(level, LEVELS))


class ByCluster:
    """Pairs of a row and a cluster it keeps, in the order of clusters, then of rows.

    Parameters
    ----------
    K : tensor of shape (B, C'), int32
    C : int
    """

    def __init__(self, K: torch.Tensor, C: int):
        n_rows, self.kept = K.shape
        self.C, self.segments = C, segments_of(n_rows, C, self.kept)
        clusters, order = torch.sort(K.reshape(-1), stable=True)
        of_leaves = self.segments.of_leaves()
        segment = of_leaves[
            torch.div(order, self.kept * LEAF_ROWS, rounding_mode="floor")
        ]
        groups = clusters.long() * self.segments.count + segment
        every = torch.arange(C * self.segments.count + 1, device=K.device)
        self.order, self.offsets = order, torch.searchsorted(groups, every)
        self.first_leaves = torch.as_tensor(
            self.segments.starts[:-1], dtype=torch.int32, device=K.device
        )

    def sums(
        self,
        rows: torch.Tensor,
        means: torch.Tensor,
        shares: torch.Tensor | None,
        *,
        squared: bool = False,
    ) -> torch.Tensor:
        """Return sums of shares times y - mu, or its squares, shape (S, C, D + 1).

        What is behind the features is the sum of the shares themselves, which are all
        1 if there are none.
        """
        D = rows.shape[1]
        found = torch.empty(
            (self.segments.count, self.C, D + 1),
            dtype=torch.float64,
            device=rows.device,
        )
        # What is behind the features has a walk of its own: it would double theirs.
        for start, stop in ((0, D), (D, D + 1)):
            features = min(MOST_FEATURES, triton.next_power_of_2(max(1, stop - start)))
            grid = (self.C * self.segments.count, triton.cdiv(stop - start, features))
            if grid[1] == 0:
                continue
            _sum_of_clusters[grid](
                rows,
                means,
                self.order,
                self.offsets,
                rows if shares is None else shares,
                self.first_leaves,
                found,
                self.segments.count,
                D,
                start,
                stop,
                self.kept,
                SHARED=shares is not None,
                SQUARED=squared,
                LEAF=LEAF_ROWS,
                FEATURES=features,
                num_warps=1,
                enable_fp_fusion=False,
            )
        return found

    def sums_of_pairs(self, values: torch.Tensor) -> torch.Tensor:
        """Return sums of a number of every pair, shape (S, C)."""
        nothing = torch.empty((1, 0), dtype=torch.float64, device=values.device)
        return self.sums(nothing, nothing, values)[..., 0]


def sums_of_leaves(values: torch.Tensor) -> torch.Tensor:
    """Return the sums of numbers of the rows of every leaf, shape (L, columns).

    Parameters
    ----------
    values : tensor of shape (columns, B), float64
    """
    n_columns, n_rows = values.shape
    n_leaves = triton.cdiv(n_rows, LEAF_ROWS)
    found = torch.empty(
        (n_leaves, n_columns), dtype=torch.float64, device=values.device
    )
    _sum_of_leaves[(n_leaves, n_columns)](
        values, found, n_rows, n_columns, LEAF=LEAF_ROWS, num_warps=4
    )
    return found
