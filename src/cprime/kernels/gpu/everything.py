"""What do rows add up to that are divided among all clusters (C' = C)?"""

import torch
import triton
import triton.language as tl

from cprime.blocks import LEAF_ROWS
from cprime.kernels.gpu.model import DeviceModel

CLUSTERS, FEATURES = 128, 32


@triton.jit(do_not_specialize=["n_rows"])
def _sum_of_all(
    rows,
    means,
    shares,
    distances,
    moments,
    scatters,
    n_rows,
    C,
    D,
    LEAF: tl.constexpr,
    OF_FEATURES: tl.constexpr,
    OF_CLUSTERS: tl.constexpr,
    CLUSTERS: tl.constexpr,
    FEATURES: tl.constexpr,
):
    """Add up w q (y - mu) of the rows of one leaf, for some clusters and features."""
    leaf = tl.program_id(0).to(tl.int64)
    cluster = tl.program_id(1) * CLUSTERS + tl.arange(0, CLUSTERS)
    d = tl.program_id(2) * FEATURES + tl.arange(0, FEATURES)
    known = (cluster < C)[:, None] & (d < D)[None, :]
    mu = tl.load(means + cluster[:, None] * D + d[None, :], mask=known, other=0)
    moment = tl.zeros((CLUSTERS, FEATURES), dtype=tl.float64)
    square = tl.zeros((CLUSTERS, FEATURES), dtype=tl.float64)
    of_cluster = tl.zeros((CLUSTERS,), dtype=tl.float64)
    begin = leaf * LEAF
    for row in range(begin, min(begin + LEAF, n_rows)):
        share = tl.load(shares + row * C + cluster, mask=cluster < C, other=0)
        y = tl.load(rows + row * D + d, mask=d < D, other=0).to(tl.float64)
        # Behind the features a share counts once.
        difference = tl.where((d < D)[None, :], y[None, :] - mu, 1.0)
        part = share[:, None] * difference
        moment += part
        if OF_FEATURES:
            square += part * difference
        if OF_CLUSTERS:
            far = tl.load(distances + row * C + cluster, mask=cluster < C, other=0)
            of_cluster += tl.where(share > 0, share * far, 0.0)
    of_leaf = leaf * C + cluster
    at = of_leaf[:, None] * (D + 1) + d[None, :]
    tl.store(moments + at, moment, mask=(cluster < C)[:, None] & (d < D + 1)[None, :])
    if OF_FEATURES:
        tl.store(scatters + of_leaf[:, None] * D + d[None, :], square, mask=known)
    if OF_CLUSTERS:
        tl.store(scatters + of_leaf, of_cluster, mask=cluster < C)


def sums_of_all(
    rows: torch.Tensor,
    shares: torch.Tensor,
    distances: torch.Tensor,
    model: DeviceModel,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return moments, shape (L, C, D + 1), and scatters of every leaf, if any."""
    (n_rows, D), C = rows.shape, model.C
    n_leaves = triton.cdiv(n_rows, LEAF_ROWS)

    def empty(*shape: int) -> torch.Tensor:
        return torch.empty(
            (n_leaves, C, *shape), dtype=torch.float64, device=rows.device
        )

    moments = empty(D + 1)
    scatters = None
    if model.is_of_features:
        scatters = empty(D)
    elif model.is_of_clusters:
        scatters = empty()
    grid = (n_leaves, triton.cdiv(C, CLUSTERS), triton.cdiv(D + 1, FEATURES))
    _sum_of_all[grid](
        rows,
        model.means,
        shares,
        distances,
        moments,
        moments if scatters is None else scatters,
        n_rows,
        C,
        D,
        LEAF=LEAF_ROWS,
        OF_FEATURES=model.is_of_features,
        OF_CLUSTERS=model.is_of_clusters,
        CLUSTERS=CLUSTERS,
        FEATURES=FEATURES,
        num_warps=4,
    )
    return moments, scatters
