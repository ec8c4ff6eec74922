"""Where do means move after a sweep, and what is the host told of it?"""

from typing import NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl

from cprime.kernels.gpu.tree import SCALARS

CLUSTERS = 32


class Sums(NamedTuple):
    """What a sweep leaves behind: tensors of clusters, and numbers of all rows.

    Attributes
    ----------
    moments : tensor of shape (C, D + 1)
    scalars : tensor of shape (7,)
    K : list of tensor
        The closest cluster of every row, piece by piece.
    """

    moments: torch.Tensor
    scalars: torch.Tensor
    K: list[torch.Tensor]


class Moved(NamedTuple):
    """What the host is told of a sweep, and of the M-step that would follow.

    Attributes
    ----------
    taken : float
        What the scatter loses when means move.
    moved : float
        How far they move, squared, all together.
    is_fixed : bool
        Whether means are those of their rows already, but for rounding.
    has_empty : bool
        Whether a cluster has no rows.
    of_rows : dict
        The numbers in `SCALARS`.
    """

    taken: float
    moved: float
    is_fixed: bool
    has_empty: bool
    of_rows: dict[str, float]


@triton.jit
def _maximize(
    means,
    moments,
    scalars,
    largest,
    after,
    of_clusters,
    rounding,
    C,
    D,
    CLUSTERS: tl.constexpr,
):
    """Move means to the middle of their rows; feature after feature, as on the host."""
    cluster = tl.program_id(0) * CLUSTERS + tl.arange(0, CLUSTERS)
    known = cluster < C
    of_rounding = tl.load(rounding)
    sums = moments + cluster.to(tl.int64) * (D + 1)
    count = tl.load(sums + D, mask=known, other=1)
    spread = tl.sqrt(tl.load(scalars) / count)
    taken = tl.zeros((CLUSTERS,), dtype=tl.float64)
    moved = tl.zeros((CLUSTERS,), dtype=tl.float64)
    moves = tl.zeros((CLUSTERS,), dtype=tl.float64)
    for d in range(D):
        at = cluster.to(tl.int64) * D + d
        mu = tl.load(means + at, mask=known, other=0)
        shift = tl.load(sums + d, mask=known, other=0)
        wanted = shift / count
        following = mu + wanted
        tl.store(after + at, following, mask=known)
        step = following - mu
        taken += step * (2.0 * shift - count * step)
        moved += step * step
        wanted = tl.abs(wanted)
        far = wanted > of_rounding * (tl.abs(mu) + spread)
        far |= wanted > of_rounding * tl.load(largest + d)
        moves = tl.where(far, 1.0, moves)
    tl.store(of_clusters + cluster, taken, mask=known)
    tl.store(of_clusters + C + cluster, moved, mask=known)
    tl.store(of_clusters + 2 * C + cluster, moves, mask=known)
    tl.store(of_clusters + 3 * C + cluster, count, mask=known)


def maximize(
    means: torch.Tensor,
    sums: Sums,
    largest: torch.Tensor,
    rounding: torch.Tensor,
    after: torch.Tensor,
    told: torch.Tensor,
) -> None:
    """Find the means that follow those of a sweep, and what the host is told.

    Parameters
    ----------
    means : tensor of shape (C, D)
    sums : Sums
        Of the sweep.
    largest : tensor of shape (D,)
        The largest absolute value of every feature.
    rounding : tensor of shape (1,)
    after : tensor of shape (C, D)
        For the means that follow.
    told : tensor of shape (4 C + 7,)
        For what is then `arrived`.
    """
    C, D = means.shape
    told[4 * C :] = sums.scalars
    _maximize[(triton.cdiv(C, CLUSTERS),)](
        means,
        sums.moments,
        sums.scalars,
        largest,
        after,
        told,
        rounding,
        C,
        D,
        CLUSTERS=CLUSTERS,
        num_warps=1,
        enable_fp_fusion=False,
    )


def arrived(told: torch.Tensor, C: int) -> Moved:
    """Return what the host is told, once it is there."""
    numbers = told.cpu().numpy()
    taken, moved, moves, counts = numbers[: 4 * C].reshape(4, C)
    return Moved(
        float(np.add.accumulate(taken)[-1]),
        float(np.add.accumulate(moved)[-1]),
        not moves.any(),
        not counts.all(),
        dict(zip(SCALARS, numbers[4 * C :].tolist())),
    )
