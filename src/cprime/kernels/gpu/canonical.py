"""Canonical distances on the device: the reference's, to the last bit.

Differences first, then squares in float64, feature d in lane d mod 8, lanes folded in
halves; no multiplication is fused with an addition.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from cprime.kernels.gpu.model import DeviceModel

# Rows a program looks at.
ROWS = 64
# Loops over features that load so many steps ahead.
AHEAD = 4
# Of rows that the device lists it alone knows how many there are: programs take turns.
PROGRAMS_OF_LISTED = 1024


class Listed(NamedTuple):
    """Some rows by their places, in any order, as the device has found them.

    Attributes
    ----------
    places : tensor of shape (B,), int32
        Of which the first are set.
    count : tensor of shape (1,), int32
        How many.
    """

    places: torch.Tensor
    count: torch.Tensor


@triton.jit
def _fold(lanes, ROWS: tl.constexpr):
    """Return the sum of eight lanes of every row, folded in halves."""
    halves = tl.permute(tl.reshape(lanes, (ROWS, 2, 2, 2)), (0, 2, 3, 1))
    low, high = tl.split(halves)
    low, high = tl.split(tl.permute(low + high, (0, 2, 1)))
    low, high = tl.split(low + high)
    return low + high


@triton.jit(do_not_specialize=["n_rows", "C", "stride", "width"])
def _of_pairs(
    rows,
    means,
    whitening,
    K,
    found,
    listed,
    count,
    n_rows,
    C,
    D,
    stride,
    width,
    LISTED: tl.constexpr,
    OF_FEATURES: tl.constexpr,
    OF_CLUSTERS: tl.constexpr,
    ROWS: tl.constexpr,
    AHEAD: tl.constexpr,
):
    lane = tl.arange(0, 8)
    if LISTED:
        n_rows = tl.load(count)
    for first in range(tl.program_id(0) * ROWS, n_rows, tl.num_programs(0) * ROWS):
        place = first + tl.arange(0, ROWS).to(tl.int64)
        row = place
        if LISTED:
            row = tl.load(listed + place, mask=place < n_rows, other=0).to(tl.int64)
        for j in range(width):
            at = row * stride + j
            cluster = tl.load(K + at, mask=place < n_rows, other=C).to(tl.int64)
            inside = (place < n_rows) & (cluster < C)
            lanes = tl.zeros((ROWS, 8), dtype=tl.float64)
            for d in tl.range(0, D, 8, loop_unroll_factor=AHEAD):
                feature = d + lane
                there = inside[:, None] & (feature < D)[None, :]
                of_row = row[:, None] * D + feature[None, :]
                y = tl.load(rows + of_row, mask=there, other=0)
                of_mean = cluster[:, None] * D + feature[None, :]
                mu = tl.load(means + of_mean, mask=there, other=0)
                difference = y.to(tl.float64) - mu
                if OF_FEATURES:
                    difference *= tl.load(whitening + of_mean, mask=there, other=0)
                lanes += difference * difference
            squares = _fold(lanes, ROWS)
            if OF_CLUSTERS:
                of_cluster = tl.load(whitening + cluster, mask=inside, other=0)
                squares = squares * (of_cluster * of_cluster)
            squares = tl.where(cluster < C, squares, float("inf"))
            tl.store(found + place * width + j, squares, mask=place < n_rows)


def distances_of(
    rows: torch.Tensor,
    K: torch.Tensor,
    model: DeviceModel,
    width: int,
    listed: Listed | None = None,
) -> torch.Tensor:
    """Return squared distances of rows to clusters in K, shape (B, width), float64.

    Infinity where K holds C, which is no cluster.

    Parameters
    ----------
    rows : tensor of shape (B, D)
    K : tensor of shape (B, width or more), int32
    model : DeviceModel
    width : int
    listed : Listed, optional
        Rows that are looked at, by their places; found are then as many lines.
    """
    n_rows, D = rows.shape
    found = torch.empty((n_rows, width), dtype=torch.float64, device=rows.device)
    if found.numel() > 0:
        n_programs = triton.cdiv(n_rows, ROWS)
        if listed is not None:
            n_programs = min(n_programs, PROGRAMS_OF_LISTED)
        _of_pairs[(n_programs,)](
            rows,
            model.means,
            model.whitening,
            K,
            found,
            K if listed is None else listed.places,
            K if listed is None else listed.count,
            n_rows,
            model.C,
            D,
            K.stride(0),
            width,
            LISTED=listed is not None,
            OF_FEATURES=model.is_of_features,
            OF_CLUSTERS=model.is_of_clusters,
            ROWS=ROWS,
            AHEAD=AHEAD,
            num_warps=4,
            enable_fp_fusion=False,
        )
    return found
