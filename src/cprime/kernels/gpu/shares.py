"""How is a row divided among the clusters it keeps?

Every row is looked at by itself, its clusters in a fixed order, so nothing depends on
the rows beside it.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from cprime.blocks import LEAF_ROWS
from cprime.kernels.gpu.model import DeviceModel

# Of a program; most rows fit into one pass.
ROWS, CLUSTERS = 1, 1024


class Shares(NamedTuple):
    """What of every row its clusters have, and the numbers that go with it.

    Attributes
    ----------
    shares : tensor of shape (B, C')
        The row's weight times its posterior; None stands for one cluster.
    of_rows : tensor of shape (4, B)
        Weighted: sum q ||y - mu||^2, ||y - mu||^2 of the label, the entropy of the
        posterior, and log sum p(y, c). Rows of no weight have zeros.
    """

    shares: torch.Tensor
    of_rows: torch.Tensor


@triton.jit
def _score(distances, K, penalty, row, column, n_rows, WIDTH, ALL: tl.constexpr):
    """Return distances, and distances with the clusters' handicaps."""
    there = (row < n_rows)[:, None] & (column < WIDTH)[None, :]
    at = row[:, None] * WIDTH + column[None, :]
    distance = tl.load(distances + at, mask=there, other=float("inf"))
    if ALL:
        handicap = tl.load(penalty + column, mask=column < WIDTH, other=0)[None, :]
    else:
        cluster = tl.load(K + at, mask=there, other=0)
        handicap = tl.load(penalty + cluster, mask=there, other=0)
    return distance, distance + handicap


@triton.jit(do_not_specialize=["n_rows"])
def _divide(
    distances,
    K,
    penalty,
    weights,
    shares,
    of_rows,
    scale,
    n_rows,
    WIDTH,
    ALL: tl.constexpr,
    ROWS: tl.constexpr,
    CLUSTERS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    # Two numbers of the model: as arguments they would be float32.
    sharpness, highest_bias = tl.load(scale), tl.load(scale + 1)
    best = tl.full((ROWS,), float("inf"), dtype=tl.float64)
    of_label = tl.zeros((ROWS,), dtype=tl.float64)
    for start in range(0, WIDTH, CLUSTERS):
        column = start + tl.arange(0, CLUSTERS)
        distance, score = _score(distances, K, penalty, row, column, n_rows, WIDTH, ALL)
        lowest = tl.min(score, 1)
        # Ties go to the one that comes first.
        place = tl.min(tl.where(score == lowest[:, None], column[None, :], WIDTH), 1)
        of_lowest = tl.sum(
            tl.where(column[None, :] == place[:, None], distance, 0.0), 1
        )
        of_label = tl.where(lowest < best, of_lowest, of_label)
        best = tl.minimum(best, lowest)
    total = tl.zeros((ROWS,), dtype=tl.float64)
    for start in range(0, WIDTH, CLUSTERS):
        column = start + tl.arange(0, CLUSTERS)
        _, score = _score(distances, K, penalty, row, column, n_rows, WIDTH, ALL)
        relative = sharpness * (best[:, None] - score)
        relative = tl.where((column < WIDTH)[None, :], relative, -float("inf"))
        total += tl.sum(tl.exp(relative), 1)
    total = tl.where(inside, total, 1.0)
    log_total = tl.log(total)
    weight = tl.load(weights + row, mask=inside, other=0)
    scatter = tl.zeros((ROWS,), dtype=tl.float64)
    surprise = tl.zeros((ROWS,), dtype=tl.float64)
    for start in range(0, WIDTH, CLUSTERS):
        column = start + tl.arange(0, CLUSTERS)
        distance, score = _score(distances, K, penalty, row, column, n_rows, WIDTH, ALL)
        relative = sharpness * (best[:, None] - score)
        there = inside[:, None] & (column < WIDTH)[None, :]
        q = tl.where(there, tl.exp(relative) / total[:, None], 0.0)
        share = weight[:, None] * q
        # What has no probability has no surprise either, however far it is.
        surprise += tl.sum(tl.where(q > 0, q * relative, 0.0), 1)
        scatter += tl.sum(tl.where(share > 0, share * distance, 0.0), 1)
        at = row[:, None] * WIDTH + column[None, :]
        tl.store(shares + at, share, mask=there)
    free_energy = highest_bias - sharpness * best + log_total
    counts = inside & (weight > 0)
    tl.store(of_rows + row, tl.where(counts, scatter, 0.0), mask=inside)
    tl.store(
        of_rows + n_rows + row, tl.where(counts, weight * of_label, 0.0), mask=inside
    )
    entropy = weight * (log_total - surprise)
    tl.store(of_rows + 2 * n_rows + row, tl.where(counts, entropy, 0.0), mask=inside)
    free_energy = weight * free_energy
    tl.store(
        of_rows + 3 * n_rows + row, tl.where(counts, free_energy, 0.0), mask=inside
    )


def divided(
    distances: torch.Tensor,
    K: torch.Tensor | None,
    model: DeviceModel,
    weights: torch.Tensor,
) -> Shares:
    """Return how rows are divided among clusters K, or among all of them.

    Parameters
    ----------
    distances : tensor of shape (B, C')
    K : tensor of shape (B, C'), int32, or None
        The best cluster of a row first.
    model : DeviceModel
    weights : tensor of shape (B,)
    """
    n_rows, width = distances.shape
    shares = torch.empty_like(distances)
    of_rows = torch.empty((4, n_rows), dtype=torch.float64, device=distances.device)
    clusters = min(CLUSTERS, triton.next_power_of_2(width))
    rows = ROWS * CLUSTERS // clusters
    _divide[(triton.cdiv(n_rows, rows),)](
        distances,
        weights if K is None else K,
        model.handicaps,
        weights,
        shares,
        of_rows,
        model.scale,
        n_rows,
        width,
        ALL=K is None,
        ROWS=rows,
        CLUSTERS=clusters,
        num_warps=4,
    )
    return Shares(shares, of_rows)


@triton.jit(do_not_specialize=["n_rows", "C"])
def _undivide(
    distances,
    K,
    before,
    penalty,
    weights,
    scale,
    sums,
    n_rows,
    C,
    CONTINUED: tl.constexpr,
    LEAF: tl.constexpr,
):
    leaf = tl.program_id(0).to(tl.int64)
    row = leaf * LEAF + tl.arange(0, LEAF)
    inside = row < n_rows
    sharpness, highest_bias = tl.load(scale), tl.load(scale + 1)
    weight = tl.load(weights + row, mask=inside, other=0)
    distance = tl.load(distances + row, mask=inside, other=0)
    cluster = tl.load(K + row, mask=inside, other=0)
    score = distance + tl.load(penalty + cluster, mask=inside, other=0)
    counts = weight > 0
    changed = counts
    if CONTINUED:
        changed &= cluster != tl.load(before + row, mask=inside, other=0)
    scatter = tl.sum(tl.where(counts, weight * distance, 0.0), 0)
    free_energy = highest_bias - sharpness * score
    at = sums + leaf * 7
    tl.store(at, scatter)
    tl.store(at + 1, scatter)
    tl.store(at + 2, 0.0)
    tl.store(at + 3, tl.sum(tl.where(counts, weight * free_energy, 0.0), 0))
    tl.store(at + 4, tl.sum(weight, 0))
    tl.store(at + 5, tl.sum(inside.to(tl.float64), 0) * C)
    tl.store(at + 6, tl.sum(changed.to(tl.float64), 0))


def undivided(
    distances: torch.Tensor,
    K: torch.Tensor,
    before: torch.Tensor | None,
    model: DeviceModel,
    weights: torch.Tensor,
) -> torch.Tensor:
    """Return the numbers in `SCALARS` of leaves of rows of one cluster each, (L, 7).

    Parameters
    ----------
    distances : tensor of shape (B, 1)
    K : tensor of shape (B, 1), int32
    before : tensor of shape (B, 1), int32, or None
        The clusters they had.
    model : DeviceModel
    weights : tensor of shape (B,)
    """
    n_rows = len(weights)
    n_leaves = triton.cdiv(n_rows, LEAF_ROWS)
    found = torch.empty((n_leaves, 7), dtype=torch.float64, device=weights.device)
    _undivide[(n_leaves,)](
        distances,
        K,
        K if before is None else before,
        model.handicaps,
        weights,
        model.scale,
        found,
        n_rows,
        model.C,
        CONTINUED=before is not None,
        LEAF=LEAF_ROWS,
        num_warps=4,
        enable_fp_fusion=False,
    )
    return found
