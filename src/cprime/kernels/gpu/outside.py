"""What do rows lose by looking at few clusters? Sums of what all clusters contribute.

As the posterior, every row by itself and in a fixed order.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from cprime.kernels.gpu.model import DeviceModel

ROWS, CLUSTERS = 8, 128


@triton.jit(do_not_specialize=["n_rows"])
def _inside_and_outside(
    distances,
    kept,
    penalty,
    scale,
    found,
    n_rows,
    C,
    ROWS: tl.constexpr,
    CLUSTERS: tl.constexpr,
):
    """Find log sum exp of clusters that are not kept, less that of those kept."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    sharpness = tl.load(scale)
    infinity = float("inf")
    best_in = tl.full((ROWS,), infinity, dtype=tl.float64)
    best_out = tl.full((ROWS,), infinity, dtype=tl.float64)
    for start in range(0, C, CLUSTERS):
        column = start + tl.arange(0, CLUSTERS)
        there = (row < n_rows)[:, None] & (column < C)[None, :]
        at = row[:, None] * C + column[None, :]
        handicap = tl.load(penalty + column, mask=column < C, other=0)[None, :]
        score = tl.load(distances + at, mask=there, other=infinity) + handicap
        inside = tl.load(kept + at, mask=there, other=0) != 0
        best_in = tl.minimum(best_in, tl.min(tl.where(inside, score, infinity), 1))
        best_out = tl.minimum(best_out, tl.min(tl.where(inside, infinity, score), 1))
    sum_in = tl.zeros((ROWS,), dtype=tl.float64)
    sum_out = tl.zeros((ROWS,), dtype=tl.float64)
    for start in range(0, C, CLUSTERS):
        column = start + tl.arange(0, CLUSTERS)
        there = (row < n_rows)[:, None] & (column < C)[None, :]
        at = row[:, None] * C + column[None, :]
        handicap = tl.load(penalty + column, mask=column < C, other=0)[None, :]
        score = tl.load(distances + at, mask=there, other=infinity) + handicap
        inside = tl.load(kept + at, mask=there, other=0) != 0
        of_in = tl.exp(sharpness * (best_in[:, None] - score))
        of_out = tl.exp(sharpness * (best_out[:, None] - score))
        sum_in += tl.sum(tl.where(inside & there, of_in, 0.0), 1)
        sum_out += tl.sum(tl.where(there & (inside == 0), of_out, 0.0), 1)
    more = sharpness * (best_in - best_out) + tl.log(sum_out) - tl.log(sum_in)
    # Without clusters outside nothing is lost.
    more = tl.where(sum_out > 0, more, -infinity)
    tl.store(found + row, more, mask=row < n_rows)


@triton.jit(do_not_specialize=["n_rows", "WIDTH"])
def _log_sums(
    relative, found, n_rows, WIDTH, ROWS: tl.constexpr, CLUSTERS: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS,), dtype=tl.float64)
    for start in range(0, WIDTH, CLUSTERS):
        column = start + tl.arange(0, CLUSTERS)
        there = (row < n_rows)[:, None] & (column < WIDTH)[None, :]
        at = row[:, None] * WIDTH + column[None, :]
        value = tl.load(relative + at, mask=there, other=-float("inf"))
        total += tl.sum(tl.where(there, tl.exp(value), 0.0), 1)
    tl.store(found + row, tl.log(tl.where(row < n_rows, total, 1.0)), mask=row < n_rows)


def gaps_of_rows(
    distances: torch.Tensor, K: torch.Tensor, model: DeviceModel
) -> torch.Tensor:
    """Return log(1 + sum outside K / sum inside K) of every row, shape (B,)."""
    n_rows, C = distances.shape
    kept = torch.zeros((n_rows, C), dtype=torch.int8, device=distances.device)
    kept.scatter_(1, K, 1)
    more = torch.empty(n_rows, dtype=torch.float64, device=distances.device)
    _inside_and_outside[(triton.cdiv(n_rows, ROWS),)](
        distances,
        kept,
        model.handicaps,
        model.scale,
        more,
        n_rows,
        C,
        ROWS=ROWS,
        CLUSTERS=CLUSTERS,
        num_warps=4,
    )
    return torch.logaddexp(torch.zeros_like(more), more)


def log_sums_of_rows(relative: torch.Tensor) -> Any:
    """Return log sum exp of every row of values that are at most 0, in host memory."""
    n_rows, width = relative.shape
    found = torch.empty(n_rows, dtype=torch.float64, device=relative.device)
    _log_sums[(triton.cdiv(n_rows, ROWS),)](
        relative, found, n_rows, width, ROWS=ROWS, CLUSTERS=CLUSTERS, num_warps=4
    )
    return found.cpu().numpy()
