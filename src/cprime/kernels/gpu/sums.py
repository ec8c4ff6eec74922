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
LARGEST_SHORT = 2**15


@triton.jit
def _carry(total, waiting, now, differs, LEVEL: tl.constexpr):
    """Take the sum of the leaves up to `now` one level higher, before another leaf.

    Either both halves of the node are complete, or the sum waits for its sibling.
    """
    if (differs >> LEVEL) == 1:
        waiting = total
        total = tl.zeros_like(total)
    elif (differs >> (LEVEL + 1)) != 0:
        if ((now >> LEVEL) & 1) != 0:
            total = waiting + total
        waiting = tl.zeros_like(total)
    return total, waiting


@triton.jit
def _load(
    rows,
    order,
    shares,
    i,
    end,
    d,
    D,
    kept,
    SHARED: tl.constexpr,
    LEAF: tl.constexpr,
):
    """Return the leaf of the i-th row, its features, and its share.

    Behind the end it is the last row, which nobody adds.
    """
    pair = tl.load(order + tl.minimum(i, end - 1)).to(tl.int64)
    row = pair // kept
    y = tl.load(rows + row * D + d, mask=d < D, other=0)
    share = 1.0
    if SHARED:
        share = tl.load(shares + pair)
    return (row // LEAF).to(tl.int32), y, share


@triton.jit
def _add(
    leaf,
    y,
    share,
    is_there,
    mu,
    d,
    D,
    now,
    total,
    a,
    b,
    c,
    e,
    f,
    SHARED: tl.constexpr,
    SQUARED: tl.constexpr,
):
    """Add one row to the sum of its leaf; before another leaf, take sums higher."""
    if is_there:
        differs = leaf ^ now
        if differs != 0:
            total, a = _carry(total, a, now, differs, 0)
            total, b = _carry(total, b, now, differs, 1)
            total, c = _carry(total, c, now, differs, 2)
            total, e = _carry(total, e, now, differs, 3)
            total, f = _carry(total, f, now, differs, 4)
            now = leaf
        difference = tl.where(d < D, y.to(tl.float64) - mu, 1.0)
        if SQUARED:
            difference = difference * difference
        if SHARED:
            difference = share * difference
        total += difference
    return now, total, a, b, c, e, f


@triton.jit(do_not_specialize=["n_segments", "start", "stop"])
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
    COUNTED: tl.constexpr,
    LEAF: tl.constexpr,
    FEATURES: tl.constexpr,
):
    """Add up w q (y - mu), or its square, of one cluster's rows in one segment.

    Of features from `start` to `stop`; behind the features a share counts once. Four
    rows are loaded together, and added one after another.
    """
    group = tl.program_id(0).to(tl.int64)
    cluster, segment = group // n_segments, group % n_segments
    d = start + tl.program_id(1) * FEATURES + tl.arange(0, FEATURES)
    mu = tl.load(means + cluster * D + d, mask=d < D, other=0)
    begin, end = tl.load(offsets + group), tl.load(offsets + group + 1)
    first = tl.load(first_leaves + segment)
    total = tl.zeros((FEATURES,), dtype=tl.float64)
    a = tl.zeros((FEATURES,), dtype=tl.float64)
    b = tl.zeros((FEATURES,), dtype=tl.float64)
    c = tl.zeros((FEATURES,), dtype=tl.float64)
    e = tl.zeros((FEATURES,), dtype=tl.float64)
    f = tl.zeros((FEATURES,), dtype=tl.float64)
    now = tl.zeros_like(first)
    for i in range(begin, end, 4):
        leaf0, y0, q0 = _load(rows, order, shares, i, end, d, D, kept, SHARED, LEAF)
        leaf1, y1, q1 = _load(rows, order, shares, i + 1, end, d, D, kept, SHARED, LEAF)
        leaf2, y2, q2 = _load(rows, order, shares, i + 2, end, d, D, kept, SHARED, LEAF)
        leaf3, y3, q3 = _load(rows, order, shares, i + 3, end, d, D, kept, SHARED, LEAF)
        now, total, a, b, c, e, f = _add(
            leaf0 - first,
            y0,
            q0,
            i < end,
            mu,
            d,
            D,
            now,
            total,
            a,
            b,
            c,
            e,
            f,
            SHARED,
            SQUARED,
        )
        now, total, a, b, c, e, f = _add(
            leaf1 - first,
            y1,
            q1,
            i + 1 < end,
            mu,
            d,
            D,
            now,
            total,
            a,
            b,
            c,
            e,
            f,
            SHARED,
            SQUARED,
        )
        now, total, a, b, c, e, f = _add(
            leaf2 - first,
            y2,
            q2,
            i + 2 < end,
            mu,
            d,
            D,
            now,
            total,
            a,
            b,
            c,
            e,
            f,
            SHARED,
            SQUARED,
        )
        now, total, a, b, c, e, f = _add(
            leaf3 - first,
            y3,
            q3,
            i + 3 < end,
            mu,
            d,
            D,
            now,
            total,
            a,
            b,
            c,
            e,
            f,
            SHARED,
            SQUARED,
        )
    total = tl.where((now & 1) != 0, a + total, total)
    total = tl.where((now & 2) != 0, b + total, total)
    total = tl.where((now & 4) != 0, c + total, total)
    total = tl.where((now & 8) != 0, e + total, total)
    total = tl.where((now & 16) != 0, f + total, total)
    at = (segment * (tl.num_programs(0) // n_segments) + cluster) * (D + 1)
    tl.store(sums + at + d, total, mask=d < stop)
    if COUNTED:
        # Rows that weigh 1 add up to how many they are, in any order.
        tl.store(sums + at + D, (end - begin).to(tl.float64))


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
        of_pairs = K.reshape(-1)
        if C <= LARGEST_SHORT:
            # Half as many digits to sort by.
            of_pairs = of_pairs.to(torch.int16)
        clusters, order = torch.sort(of_pairs, stable=True)
        leaves = torch.div(order, self.kept * LEAF_ROWS, rounding_mode="floor")
        segment = self.segments.of_leaves[leaves]
        groups = clusters.long() * self.segments.count + segment
        every = torch.arange(C * self.segments.count + 1, device=K.device)
        self.order, self.offsets = order, torch.searchsorted(groups, every)

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
        walks = [(0, D)] if shares is None else [(0, D), (D, D + 1)]
        for start, stop in walks:
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
                self.segments.first_leaves,
                found,
                self.segments.count,
                D,
                start,
                stop,
                self.kept,
                SHARED=shares is not None,
                SQUARED=squared,
                COUNTED=shares is None,
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
