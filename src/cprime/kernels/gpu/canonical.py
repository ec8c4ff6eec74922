"""Canonical distances on the device: the reference's, to the last bit.

Differences first, then squares in float64, feature d in lane d mod 8, lanes folded in
halves; no multiplication is fused with an addition.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from cprime.kernels.gpu.model import DeviceModel

# Rows a program looks at, and clusters, where it looks at several of them.
ROWS, CLUSTERS = 16, 32
ROWS_OF_PAIRS = 64
# Of listed rows: of the first, all distances are in memory at once.
DISTANCES_OF_LISTED = 2**24
CLUSTERS_OF_LEAST = 512
ROWS_OF_LISTED, CLUSTERS_OF_LISTED = 4, 128
# Loops over features that load so many steps ahead.
AHEAD = 4
# Of rows that the device lists it alone knows how many there are: programs take turns.
PROGRAMS_OF_LISTED = 1024
# In the second dimension of a grid.
MOST_PROGRAMS = 2**16 - 1


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


@triton.jit
def _square(y, means, whitening, cluster, d, C, D, OF_FEATURES: tl.constexpr):
    # A tensor of one: of plain numbers a comparison would be no mask.
    is_feature = tl.zeros((1,), dtype=tl.int32) + d < D
    there = (cluster < C) & is_feature
    mu = tl.load(means + d * C + cluster, mask=there, other=0)
    difference = y.to(tl.float64)[:, None] - mu[None, :]
    if OF_FEATURES:
        w = tl.load(whitening + d * C + cluster, mask=there, other=0)
        difference *= w[None, :]
    return difference * difference


@triton.jit
def _feature(of_rows, inside, d, D, step):
    is_feature = tl.zeros((1,), dtype=tl.int32) + d < D
    return tl.load(of_rows + d * step, mask=inside & is_feature, other=0)


@triton.jit
def _squares(
    of_rows,
    inside,
    step,
    means,
    whitening,
    cluster,
    C,
    D,
    OF_FEATURES: tl.constexpr,
    OF_CLUSTERS: tl.constexpr,
    ROWS: tl.constexpr,
    CLUSTERS: tl.constexpr,
):
    """Return distances of some rows to some clusters, (ROWS, CLUSTERS).

    Features of a row are `step` apart. Means and whitenings lie feature by feature.
    """
    a = tl.zeros((ROWS, CLUSTERS), dtype=tl.float64)
    b = tl.zeros((ROWS, CLUSTERS), dtype=tl.float64)
    c = tl.zeros((ROWS, CLUSTERS), dtype=tl.float64)
    d = tl.zeros((ROWS, CLUSTERS), dtype=tl.float64)
    e = tl.zeros((ROWS, CLUSTERS), dtype=tl.float64)
    f = tl.zeros((ROWS, CLUSTERS), dtype=tl.float64)
    g = tl.zeros((ROWS, CLUSTERS), dtype=tl.float64)
    h = tl.zeros((ROWS, CLUSTERS), dtype=tl.float64)
    for i in range(0, D, 8):
        y = _feature(of_rows, inside, i, D, step)
        a += _square(y, means, whitening, cluster, i, C, D, OF_FEATURES)
        y = _feature(of_rows, inside, i + 1, D, step)
        b += _square(y, means, whitening, cluster, i + 1, C, D, OF_FEATURES)
        y = _feature(of_rows, inside, i + 2, D, step)
        c += _square(y, means, whitening, cluster, i + 2, C, D, OF_FEATURES)
        y = _feature(of_rows, inside, i + 3, D, step)
        d += _square(y, means, whitening, cluster, i + 3, C, D, OF_FEATURES)
        y = _feature(of_rows, inside, i + 4, D, step)
        e += _square(y, means, whitening, cluster, i + 4, C, D, OF_FEATURES)
        y = _feature(of_rows, inside, i + 5, D, step)
        f += _square(y, means, whitening, cluster, i + 5, C, D, OF_FEATURES)
        y = _feature(of_rows, inside, i + 6, D, step)
        g += _square(y, means, whitening, cluster, i + 6, C, D, OF_FEATURES)
        y = _feature(of_rows, inside, i + 7, D, step)
        h += _square(y, means, whitening, cluster, i + 7, C, D, OF_FEATURES)
    squares = ((a + e) + (c + g)) + ((b + f) + (d + h))
    if OF_CLUSTERS:
        width = tl.load(whitening + cluster, mask=cluster < C, other=0)
        squares = squares * (width * width)[None, :]
    return squares


@triton.jit(do_not_specialize=["n_rows"])
def _to_all(
    rows,
    means,
    whitening,
    found,
    listed,
    count,
    n_rows,
    C,
    D,
    LISTED: tl.constexpr,
    OF_FEATURES: tl.constexpr,
    OF_CLUSTERS: tl.constexpr,
    ROWS: tl.constexpr,
    CLUSTERS: tl.constexpr,
):
    """Rows lie feature by feature as well, if they are not listed ones of many."""
    place = tl.program_id(1).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    cluster = tl.program_id(0) * CLUSTERS + tl.arange(0, CLUSTERS)
    if LISTED:
        n_rows = tl.minimum(tl.load(count), n_rows)
    if tl.program_id(1) * ROWS < n_rows:
        inside = place < n_rows
        of_rows, step = rows + place, n_rows
        if LISTED:
            row = tl.load(listed + place, mask=inside, other=0).to(tl.int64)
            of_rows, step = rows + row * D, 1
        squares = _squares(
            of_rows,
            inside,
            step,
            means,
            whitening,
            cluster,
            C,
            D,
            OF_FEATURES,
            OF_CLUSTERS,
            ROWS,
            CLUSTERS,
        )
        at = place[:, None] * C + cluster[None, :]
        tl.store(found + at, squares, mask=inside[:, None] & (cluster < C)[None, :])


@triton.jit(do_not_specialize=["n_rows"])
def _least(distances, handicaps, listed, count, K, n_rows, C, CLUSTERS: tl.constexpr):
    """Put the closest cluster of each listed row into K."""
    n_rows = tl.minimum(tl.load(count), n_rows)
    column = tl.arange(0, CLUSTERS)
    for place in range(tl.program_id(0), n_rows, tl.num_programs(0)):
        best = tl.full((CLUSTERS,), float("inf"), dtype=tl.float64)
        nearest = column
        for start in range(0, C, CLUSTERS):
            cluster = start + column
            at = place * C + cluster
            score = tl.load(distances + at, mask=cluster < C, other=float("inf"))
            score += tl.load(handicaps + cluster, mask=cluster < C, other=0)
            nearest = tl.where(score < best, cluster, nearest)
            best = tl.minimum(best, score)
        # Ties go to the lowest index.
        nearest = tl.where(best == tl.min(best, 0), nearest, C)
        tl.store(K + tl.load(listed + place), tl.min(nearest, 0))


@triton.jit(do_not_specialize=["skipped"])
def _nearest_of_all(
    rows,
    means,
    handicaps,
    listed,
    count,
    K,
    skipped,
    C,
    D,
    ROWS: tl.constexpr,
    CLUSTERS: tl.constexpr,
):
    """Do both for listed rows, but for some of the first, where they are very many."""
    n_rows, step = tl.load(count), tl.num_programs(0) * ROWS
    for first in range(skipped + tl.program_id(0) * ROWS, n_rows, step):
        place = first + tl.arange(0, ROWS)
        inside = place < n_rows
        row = tl.load(listed + place, mask=inside, other=0).to(tl.int64)
        best = tl.full((ROWS,), float("inf"), dtype=tl.float64)
        nearest = tl.zeros((ROWS,), dtype=tl.int32)
        for start in range(0, C, CLUSTERS):
            cluster = start + tl.arange(0, CLUSTERS)
            known = cluster < C
            squares = _squares(
                rows + row * D,
                inside,
                1,
                means,
                means,
                cluster,
                C,
                D,
                False,
                False,
                ROWS,
                CLUSTERS,
            )
            score = squares + tl.load(handicaps + cluster, mask=known, other=0)[None, :]
            score = tl.where(known[None, :], score, float("inf"))
            lowest = tl.min(score, 1)
            of_lowest = tl.where(score == lowest[:, None], cluster[None, :], C)
            nearest = tl.where(lowest < best, tl.min(of_lowest, 1), nearest)
            best = tl.minimum(best, lowest)
        tl.store(K + row, nearest, mask=inside)


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
        n_programs = triton.cdiv(n_rows, ROWS_OF_PAIRS)
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
            ROWS=ROWS_OF_PAIRS,
            AHEAD=AHEAD,
            num_warps=4,
            enable_fp_fusion=False,
        )
    return found


def distances_to_all(rows: torch.Tensor, model: DeviceModel):
    """Return squared distances of rows to all clusters, shape (B, C), float64."""
    (n_rows, D), C = rows.shape, model.C
    found = torch.empty((n_rows, C), dtype=torch.float64, device=rows.device)
    n_programs = -(-n_rows // ROWS)
    if n_programs > MOST_PROGRAMS:
        parts = rows.split(MOST_PROGRAMS * ROWS)
        return torch.cat([distances_to_all(part, model) for part in parts])
    _to_all[(triton.cdiv(C, CLUSTERS), n_programs)](
        rows.T.contiguous(),
        model.columns,
        model.whitening_columns,
        found,
        found,
        found,
        n_rows,
        C,
        D,
        LISTED=False,
        OF_FEATURES=model.is_of_features,
        OF_CLUSTERS=model.is_of_clusters,
        ROWS=ROWS,
        CLUSTERS=CLUSTERS,
        num_warps=4,
        enable_fp_fusion=False,
    )
    return found


def settle_among_all(
    rows: torch.Tensor, K: torch.Tensor, model: DeviceModel, listed: Listed
) -> None:
    """Put the closest of all clusters of the listed rows into K, shape (B, 1).

    Of a model whose clusters have one whitening.
    """
    (n_rows, D), C, device = rows.shape, model.C, rows.device
    n_first = min(n_rows, max(ROWS, DISTANCES_OF_LISTED // C))
    distances = torch.empty((n_first, C), dtype=torch.float64, device=device)
    _to_all[(triton.cdiv(C, CLUSTERS), triton.cdiv(n_first, ROWS))](
        rows,
        model.columns,
        model.whitening,
        distances,
        listed.places,
        listed.count,
        n_first,
        C,
        D,
        LISTED=True,
        OF_FEATURES=False,
        OF_CLUSTERS=False,
        ROWS=ROWS,
        CLUSTERS=CLUSTERS,
        num_warps=4,
        enable_fp_fusion=False,
    )
    _least[(min(n_first, PROGRAMS_OF_LISTED),)](
        distances,
        model.handicaps,
        listed.places,
        listed.count,
        K,
        n_first,
        C,
        CLUSTERS=CLUSTERS_OF_LEAST,
        num_warps=4,
    )
    if n_rows > n_first:
        n_programs = triton.cdiv(n_rows - n_first, ROWS_OF_LISTED)
        _nearest_of_all[(min(n_programs, PROGRAMS_OF_LISTED),)](
            rows,
            model.columns,
            model.handicaps,
            listed.places,
            listed.count,
            K,
            n_first,
            C,
            D,
            ROWS=ROWS_OF_LISTED,
            CLUSTERS=CLUSTERS_OF_LISTED,
            num_warps=4,
            enable_fp_fusion=False,
        )
