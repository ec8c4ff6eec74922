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
from cprime.kernels.gpu.walks import LEVELS, sum_of_clusters

# A program has this many rows to walk along, if clusters are equal.
ROWS_OF_PROGRAM = 16
MOST_FEATURES = 128
LARGEST_SHORT = 2**15


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
            sum_of_clusters[grid](
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
