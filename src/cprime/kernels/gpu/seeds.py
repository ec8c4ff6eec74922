"""Which rows become seeds, by D^2 sampling on the device?

Every seed takes two programs, and nothing comes to the host before the last one.
"""

import numpy as np
import torch
import triton
import triton.language as tl

from cprime.blocks import Block
from cprime.draws import drawn
from cprime.kernels.gpu.all_pairs import distances_to_all
from cprime.kernels.gpu.devices import Replayed, to_device, told_if_full
from cprime.kernels.gpu.model import DeviceModel
from cprime.kernels.gpu.residents import tensor_of
from cprime.kernels.reference import SAME_LOSS
from cprime.typing import Array

ROWS, CHUNK = 32, 2048


@triton.jit
def _of_feature(rows, row, inside, d, D):
    there = inside & (tl.zeros((1,), dtype=tl.int32) + d < D)
    return tl.load(rows + row * D + d, mask=there, other=0).to(tl.float64)


@triton.jit
def _square(rows, row, inside, trial, known, d, D):
    y = _of_feature(rows, row, inside, d, D)
    mu = _of_feature(rows, trial, known, d, D)
    difference = y[:, None] - mu[None, :]
    return difference * difference


@triton.jit(do_not_specialize=["M"])
def _try(
    rows,
    weights,
    nearest,
    trials,
    closest,
    losses,
    M,
    D,
    T,
    TRIALS: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Find how far rows would be from their seeds with each trial, and what they lose.

    Canonical distances: feature d in lane d mod 8, lanes folded in halves.
    """
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < M
    t = tl.arange(0, TRIALS)
    known = t < T
    trial = tl.load(trials + t, mask=known, other=0)
    a = tl.zeros((ROWS, TRIALS), dtype=tl.float64)
    b = tl.zeros((ROWS, TRIALS), dtype=tl.float64)
    c = tl.zeros((ROWS, TRIALS), dtype=tl.float64)
    d = tl.zeros((ROWS, TRIALS), dtype=tl.float64)
    e = tl.zeros((ROWS, TRIALS), dtype=tl.float64)
    f = tl.zeros((ROWS, TRIALS), dtype=tl.float64)
    g = tl.zeros((ROWS, TRIALS), dtype=tl.float64)
    h = tl.zeros((ROWS, TRIALS), dtype=tl.float64)
    for i in range(0, D, 8):
        a += _square(rows, row, inside, trial, known, i, D)
        b += _square(rows, row, inside, trial, known, i + 1, D)
        c += _square(rows, row, inside, trial, known, i + 2, D)
        d += _square(rows, row, inside, trial, known, i + 3, D)
        e += _square(rows, row, inside, trial, known, i + 4, D)
        f += _square(rows, row, inside, trial, known, i + 5, D)
        g += _square(rows, row, inside, trial, known, i + 6, D)
        h += _square(rows, row, inside, trial, known, i + 7, D)
    squares = ((a + e) + (c + g)) + ((b + f) + (d + h))
    squares = tl.minimum(squares, tl.load(nearest + row, mask=inside, other=0)[:, None])
    weight = tl.load(weights + row, mask=inside, other=0)
    at = t[None, :].to(tl.int64) * M + row[:, None]
    tl.store(closest + at, squares, mask=inside[:, None] & known[None, :])
    loss = tl.sum(tl.where(inside[:, None], weight[:, None] * squares, 0.0), 0)
    tl.store(losses + tl.program_id(0) * TRIALS + t, loss)


@triton.jit(do_not_specialize=["last", "n_parts", "M"])
def _take(
    weights,
    nearest,
    trials,
    closest,
    losses,
    points,
    cumulated,
    chosen,
    same,
    now,
    last,
    n_parts,
    M,
    T,
    TRIALS: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """Choose the best trial as the seed of `now`, and draw those of the next."""
    step = tl.load(now)
    tl.debug_barrier()
    tl.store(now, step + 1)
    t = tl.arange(0, TRIALS)
    known = t < T
    loss = tl.zeros((TRIALS,), dtype=tl.float64)
    for part in range(n_parts):
        loss += tl.load(losses + part * TRIALS + t)
    loss = tl.where(known, loss, float("inf"))
    # The first of the best to within rounding: the order of rows has no say.
    best = tl.min(tl.where(loss <= tl.min(loss, 0) * tl.load(same), t, TRIALS), 0)
    best = tl.minimum(best, T - 1)
    tl.store(chosen + step, tl.load(trials + best))
    if step < last:
        total = tl.zeros((1,), dtype=tl.float64)
        for start in range(0, M, CHUNK):
            row = start + tl.arange(0, CHUNK)
            inside = row < M
            of_best = best.to(tl.int64) * M + row
            far = tl.load(closest + of_best, mask=inside, other=0)
            tl.store(nearest + row, far, mask=inside)
            mass = tl.load(weights + row, mask=inside, other=0) * far
            tl.store(cumulated + row, total + tl.cumsum(mass, 0), mask=inside)
            total += tl.sum(mass, 0)
        tl.debug_barrier()
        whole = tl.sum(total, 0)
        if whole == 0.0:
            # Every weighted row is a seed already: the rest can only repeat them.
            for start in range(0, M, CHUNK):
                row = start + tl.arange(0, CHUNK)
                mass = tl.load(weights + row, mask=row < M, other=0)
                tl.store(cumulated + row, total + tl.cumsum(mass, 0), mask=row < M)
                total += tl.sum(mass, 0)
            tl.debug_barrier()
        end = tl.load(cumulated + M - 1)
        wanted = tl.load(points + (step + 1) * T + t, mask=known, other=0) * end
        before = tl.zeros((TRIALS,), dtype=tl.int32)
        # A point so close to 1 that rounding put it at the very end: where that begins.
        at_end = tl.zeros((1,), dtype=tl.int32)
        for start in range(0, M, CHUNK):
            row = start + tl.arange(0, CHUNK)
            sums = tl.load(cumulated + row, mask=row < M, other=float("inf"))
            before += tl.sum((sums[:, None] <= wanted[None, :]).to(tl.int32), 0)
            at_end += tl.sum((sums < end).to(tl.int32), 0)
        tl.store(trials + t, tl.minimum(before, tl.sum(at_end, 0)), mask=known)


@told_if_full()
def draw_seeds(
    block: Block, line: Array, first: int, points: Array
) -> tuple[Array, int]:
    """Choose seeds by D^2 sampling; return their rows, and distances computed."""
    rows = tensor_of(block.dense(line))
    weights = to_device(np.array(block.weights[line]))
    (M, D), (n_further, T) = rows.shape, points.shape
    model = DeviceModel.of_means(rows[first : first + 1])
    nearest = distances_to_all(rows, model)[:, 0].contiguous()
    evaluations = M * (1 + n_further * T)
    if n_further == 0:
        return line[[first]].astype(np.int64), evaluations
    masses = block.weights[line] * nearest.cpu().numpy()
    drawn_first = drawn(masses if masses.any() else block.weights[line], points[0])
    trials, device = to_device(drawn_first.astype(np.int64)), rows.device
    n_parts, padded = triton.cdiv(M, ROWS), triton.next_power_of_2(T)

    def empty(*shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=torch.float64, device=device)

    closest, losses, cumulated = empty(T, M), empty(n_parts, padded), empty(M)
    chosen = torch.empty(n_further, dtype=torch.int64, device=device)
    all_points, same = to_device(points), to_device(np.array([1.0 + SAME_LOSS]))
    now = torch.zeros(1, dtype=torch.int32, device=device)

    def choose_one() -> None:
        _try[(n_parts,)](
            rows,
            weights,
            nearest,
            trials,
            closest,
            losses,
            M,
            D,
            T,
            TRIALS=padded,
            ROWS=ROWS,
            num_warps=4,
            enable_fp_fusion=False,
        )
        _take[(1,)](
            weights,
            nearest,
            trials,
            closest,
            losses,
            all_points,
            cumulated,
            chosen,
            same,
            now,
            n_further - 1,
            n_parts,
            M,
            T,
            TRIALS=padded,
            CHUNK=CHUNK,
            num_warps=8,
        )

    choosing = Replayed(choose_one)
    for _ in range(n_further):
        choosing.run()
    places = np.concatenate([[first], chosen.cpu().numpy()])
    return line[places].astype(np.int64), evaluations
