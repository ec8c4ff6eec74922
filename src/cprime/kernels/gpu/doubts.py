"""Is a candidate certain to be the closest? If not, the row is listed.

Scores of halves have errors with a bound: a cluster whose score is lower than it could
be for one as close may be closer, and so may one whose score nobody knows.
"""

import triton
import triton.language as tl

# Of float32: what a rounding leaves out. Tensor cores may truncate every product and
# every partial sum.
ROUNDING = 2.0**-23


@triton.jit
def _error_of_score(z, norm, error, share, numbers, sums, packing):
    """Return how far a score of halves may be off, of a cluster `z` away.

    Squared, with its handicap, and in scaled units. Such a cluster is at most ||y|| +
    sqrt(z) long. Without errors its score would be z - ||y||^2; halves of the row and
    of the mean, sums of float32 and the number of a tile in the last bits of a score
    each add what they may.
    """
    blur, least = tl.load(numbers + 1), tl.load(numbers + 2)
    reach = tl.sqrt(z) + 4.0 * blur
    length = norm + reach
    near = norm + error
    of_halves = 2.0 * error * length + 2.0 * near * (share * length + least)
    of_sums = 2.0 * sums * near * length * (1.0 + share)
    of_floats = (packing + 1e-13) * (length * length + 2.0 * near * length)
    return of_halves + of_sums + of_floats + 8.0 * blur * reach


@triton.jit
def _list(rows, doubts, doubtful, n_doubtful):
    """Add rows that are in doubt to those that are listed."""
    n = tl.sum(doubts.to(tl.int32), 0)
    if n > 0:
        start = tl.atomic_add(n_doubtful, n)
        behind = tl.cumsum(doubts.to(tl.int32), 0) - 1
        tl.store(doubtful + start + behind, rows.to(tl.int32), mask=doubts)


@triton.jit(do_not_specialize=["n_rows", "stride", "products", "tiles"])
def trust(
    candidates,
    best,
    following,
    norms,
    errors,
    share,
    numbers,
    K,
    doubtful,
    n_doubtful,
    n_rows,
    stride,
    products,
    tiles,
    ROUNDING: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Keep the first candidate, and list the rows that may have a better one."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    cluster = tl.load(candidates + row * stride, mask=inside, other=0)
    tl.store(K + row, cluster, mask=inside)
    score = tl.load(best + row, mask=inside, other=0).to(tl.float64)
    lowest = tl.load(following + row, mask=inside, other=0).to(tl.float64)
    norm = tl.load(norms + row, mask=inside, other=0)
    error = tl.load(errors + row, mask=inside, other=0).to(tl.float64)
    of_mean = tl.load(share)
    sums, packing = ROUNDING * products, ROUNDING * (tiles + 2)
    # The candidate is no farther than `z`, if scores are no more off than that: beyond
    # it, distances grow faster than errors.
    about = tl.maximum(score + norm * norm, 0.0)
    z = about + 2.0 * _error_of_score(
        about, norm, error, of_mean, numbers, sums, packing
    )
    off = _error_of_score(z, norm, error, of_mean, numbers, sums, packing)
    is_known = z - off >= about
    is_known &= lowest > z - norm * norm + off
    # What is no number is in doubt.
    _list(row, inside & ~is_known, doubtful, n_doubtful)


@triton.jit(
    do_not_specialize=["n_rows", "C", "stride", "n_kept", "width", "products", "tiles"]
)
def order(
    candidates,
    distances,
    handicaps,
    others,
    norms,
    errors,
    share,
    numbers,
    K,
    kept,
    listed,
    count,
    doubtful,
    n_doubtful,
    n_rows,
    C,
    stride,
    n_kept,
    width,
    products,
    tiles,
    PADDED: tl.constexpr,
    LISTED: tl.constexpr,
    ROUNDING: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Keep the best of the candidates, and list the rows that may have better ones."""
    if LISTED:
        n_rows = tl.load(count)
    for start in range(tl.program_id(0) * ROWS, n_rows, tl.num_programs(0) * ROWS):
        place = start + tl.arange(0, ROWS).to(tl.int64)
        row = place
        if LISTED:
            row = tl.load(listed + place, mask=place < n_rows, other=0).to(tl.int64)
        inside = place < n_rows
        column = tl.arange(0, PADDED)
        there = inside[:, None] & (column < width)[None, :]
        of_row = row[:, None] * stride + column[None, :]
        cluster = tl.load(candidates + of_row, mask=there, other=C)
        far = place[:, None] * width + column[None, :]
        distance = tl.load(distances + far, mask=there, other=float("inf"))
        known = there & (cluster < C)
        score = distance + tl.load(handicaps + cluster, mask=known, other=0)
        # Ties go to the lowest index; what is no cluster comes last, in its own order.
        one, other = score[:, :, None], score[:, None, :]
        one_of, other_of = cluster[:, :, None], cluster[:, None, :]
        first = (column[:, None] < column[None, :])[None, :, :]
        level = (one == other) & ((one_of < other_of) | ((one_of == other_of) & first))
        rank = tl.sum(((one < other) | level).to(tl.int32), 1)
        at = row[:, None] * n_kept + rank
        tl.store(K + at, cluster, mask=there & (rank < n_kept))
        if n_kept > 1:
            tl.store(kept + at, distance, mask=there & (rank < n_kept))
        last = tl.sum(tl.where(rank == n_kept - 1, score, 0.0), 1)
        norm = tl.load(norms + row, mask=inside, other=0)
        scale = tl.load(numbers)
        z = last * scale * scale
        off = _error_of_score(
            z,
            norm,
            tl.load(errors + row, mask=inside, other=0).to(tl.float64),
            tl.load(share),
            numbers,
            ROUNDING * products,
            ROUNDING * (tiles + 2),
        )
        lowest = tl.load(others + row, mask=inside, other=0).to(tl.float64)
        # What is no number is in doubt.
        _list(row, inside & ~(lowest > z - norm * norm + off), doubtful, n_doubtful)
