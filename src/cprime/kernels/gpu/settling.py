"""Which cluster is the closest of a row that is in doubt? The first of all that are.

By canonical distances; how many rows are listed the device alone knows.
"""

import torch
import triton
import triton.language as tl

from cprime.kernels.gpu.all_pairs import CLUSTERS, ROWS, squares_of, to_all
from cprime.kernels.gpu.canonical import PROGRAMS_OF_LISTED, Listed
from cprime.kernels.gpu.model import DeviceModel

# Of the first rows all distances are in memory at once.
DISTANCES_OF_LISTED = 2**24
CLUSTERS_OF_LEAST = 512
ROWS_OF_LISTED, CLUSTERS_OF_LISTED = 4, 128


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
            squares = squares_of(
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


def settle_among_all(
    rows: torch.Tensor, K: torch.Tensor, model: DeviceModel, listed: Listed
) -> None:
    """Put the closest of all clusters of the listed rows into K, shape (B, 1).

    Of a model whose clusters have one whitening.
    """
    (n_rows, D), C, device = rows.shape, model.C, rows.device
    n_first = min(n_rows, max(ROWS, DISTANCES_OF_LISTED // C))
    distances = torch.empty((n_first, C), dtype=torch.float64, device=device)
    to_all[(triton.cdiv(C, CLUSTERS), triton.cdiv(n_first, ROWS))](
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
