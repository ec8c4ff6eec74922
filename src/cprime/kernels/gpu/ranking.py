"""Which clusters may be the closest? Products of half precision tell, nearly.

Scores s_c = ||mu_c||^2 - 2 y.mu_c, plus a handicap, differ from squared distances by
what is the same for all clusters. They are products of halves, summed in float32 by the
tensor cores, and only rank: their error has a bound, and what lies within it is decided
by canonical distances elsewhere.

A program holds some rows, and goes through the clusters tile by tile. Every lane of the
tile, a *slot*, keeps the lowest two scores it has met (four, if rows keep several
clusters), with the number of the tile in their last bits: so nothing is reduced before
the end. The candidates of a row are the lowest of all slots. If a slot has given all of
its own, what else it met is unknown but not lower, and its last one stands for it among
the scores of the `rest`.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

# Scores of clusters that do not exist.
NEVER = 3.0e38
SLOTS = 64
# Of a program; fewer where their slots keep more.
ROWS, ROWS_OF_DEEP = 128, 64
# Features that a program holds of its rows at once.
MOST_FEATURES = 256


class Ranked(NamedTuple):
    """Candidates of every row, and the lowest scores among other clusters.

    Attributes
    ----------
    clusters : tensor of shape (B, M), int32
        By score; C or more is no cluster.
    best : tensor of shape (B,), float32
        The score of the first.
    following : tensor of shape (B,), float32
        The lowest score of those that are not among the first C' candidates.
    rest : tensor of shape (B,), float32
        The lowest score of those that are no candidates.
    bits : int
        How many of the last bits of a score say which tile it is from.
    """

    clusters: torch.Tensor
    best: torch.Tensor
    following: torch.Tensor
    rest: torch.Tensor
    bits: int


@triton.jit(do_not_specialize=["n_rows", "n_tiles", "mask", "kept", "wanted"])
def _rank(
    rows,
    clusters,
    offsets,
    found,
    first,
    following,
    rest,
    n_rows,
    n_tiles,
    mask,
    kept,
    wanted,
    WIDTH: tl.constexpr,
    HELD: tl.constexpr,
    MORE: tl.constexpr,
    DEEP: tl.constexpr,
    ROWS: tl.constexpr,
    SLOTS: tl.constexpr,
):
    """Features come in parts: HELD, MORE, or all of them in parts of HELD."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    slot = tl.arange(0, SLOTS)
    d = tl.arange(0, HELD)
    inside = (row < n_rows)[:, None]
    of_row = rows + row[:, None] * WIDTH
    held = tl.load(of_row + d[None, :], mask=inside, other=0)
    if MORE > 0:
        more = tl.arange(0, MORE) + HELD
        held_more = tl.load(of_row + more[None, :], mask=inside, other=0)
    lowest = tl.full((ROWS, SLOTS), 3.0e38, dtype=tl.float32)
    second = tl.full((ROWS, SLOTS), 3.0e38, dtype=tl.float32)
    if DEEP:
        third = tl.full((ROWS, SLOTS), 3.0e38, dtype=tl.float32)
        fourth = tl.full((ROWS, SLOTS), 3.0e38, dtype=tl.float32)
    for tile in range(n_tiles):
        cluster = tile * SLOTS + slot
        of_cluster = clusters + cluster[None, :] * WIDTH
        scores = tl.dot(held, tl.load(of_cluster + d[:, None]))
        if MORE > 0:
            scores = tl.dot(held_more, tl.load(of_cluster + more[:, None]), scores)
        elif HELD < WIDTH:
            for start in range(HELD, WIDTH, HELD):
                part = tl.load(of_row + start + d[None, :], mask=inside, other=0)
                scores = tl.dot(part, tl.load(of_cluster + start + d[:, None]), scores)
        scores += tl.load(offsets + cluster)[None, :]
        packed = (scores.to(tl.int32, bitcast=True) & ~mask) | tile
        scores = packed.to(tl.float32, bitcast=True)
        if DEEP:
            fourth = tl.minimum(fourth, tl.maximum(third, scores))
            third = tl.minimum(third, tl.maximum(second, scores))
        second = tl.minimum(second, tl.maximum(lowest, scores))
        lowest = tl.minimum(lowest, scores)
    for j in range(wanted):
        score, best = tl.min(lowest, 1, return_indices=True)
        of_best = score.to(tl.int32, bitcast=True) & mask
        tl.store(found + row * wanted + j, of_best * SLOTS + best, mask=row < n_rows)
        if j == 0:
            tl.store(first + row, score, mask=row < n_rows)
        is_best = slot[None, :] == best[:, None]
        lowest = tl.where(is_best, second, lowest)
        if DEEP:
            second = tl.where(is_best, third, second)
            third = tl.where(is_best, fourth, third)
        if j + 1 == kept:
            tl.store(following + row, tl.min(lowest, 1), mask=row < n_rows)
    tl.store(rest + row, tl.min(lowest, 1), mask=row < n_rows)


def padded_width(D: int) -> int:
    """Return how many halves a row takes: what its features come to in whole parts."""
    if D > MOST_FEATURES:
        return -(-D // 128) * 128
    return sum(parts(D))


def parts(D: int) -> tuple[int, int]:
    """Return two powers of two, or one and zero, that add up to D or a little more."""
    held = 16
    while 2 * held <= D:
        held *= 2
    if held >= D:
        return held, 0
    more = 16
    while held + more < D:
        more *= 2
    return (2 * held, 0) if more >= held else (held, more)


def ranked(
    rows: torch.Tensor,
    clusters: torch.Tensor,
    offsets: torch.Tensor,
    C_prime: int,
    wanted: int,
) -> Ranked:
    """Return the `wanted` clusters of lowest score for every row, nearly.

    Parameters
    ----------
    rows : tensor of shape (B, W), float16
    clusters : tensor of shape (T x 64, W), float16
        Times -2.
    offsets : tensor of shape (T x 64,), float32
        Added to the products; `NEVER` for what is no cluster.
    C_prime, wanted : int
    """
    n_rows, width = rows.shape
    n_tiles = len(offsets) // SLOTS
    bits = max(1, (n_tiles - 1).bit_length())
    held, more = parts(width) if width <= MOST_FEATURES else (128, 0)
    found = torch.empty((n_rows, wanted), dtype=torch.int32, device=rows.device)
    best, following, rest = torch.empty(
        (3, n_rows), dtype=torch.float32, device=rows.device
    )
    deep = C_prime > 1
    rows_of_program = ROWS_OF_DEEP if deep else ROWS
    _rank[(triton.cdiv(n_rows, rows_of_program),)](
        rows,
        clusters,
        offsets,
        found,
        best,
        following,
        rest,
        n_rows,
        n_tiles,
        (1 << bits) - 1,
        C_prime,
        wanted,
        WIDTH=width,
        HELD=held,
        MORE=more,
        DEEP=deep,
        ROWS=rows_of_program,
        SLOTS=SLOTS,
        num_warps=4,
        num_stages=2,
    )
    return Ranked(found, best, following, rest, bits)
