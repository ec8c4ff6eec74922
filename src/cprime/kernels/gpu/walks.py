"""How does a program add up rows in the order of `LeafSum`, walking along them?"""

import triton
import triton.language as tl

# It adds up leaves of the tree to so many levels, at most.
LEVELS = 5


@triton.jit
def _carry(total, waiting, now, differs, LEVEL: tl.constexpr):
    """Take the sum of the leaves up to `now` one level higher, before another leaf.

    Either both halves of the node are complete, or the sum waits for its sibling.
    """
    if (differs >> LEVEL) == 1:
        waiting = total
        total = tl.zeros_like(total)
    elif (differs >> (LEVEL + 1)) != 0:
        if ((now >> LEVEL) & 1) != 0:
            total = waiting + total
        waiting = tl.zeros_like(total)
    return total, waiting


@triton.jit
def _load(
    rows,
    order,
    shares,
    i,
    end,
    d,
    D,
    kept,
    SHARED: tl.constexpr,
    LEAF: tl.constexpr,
):
    """Return the leaf of the i-th row, its features, and its share.

    Behind the end it is the last row, which nobody adds.
    """
    pair = tl.load(order + tl.minimum(i, end - 1)).to(tl.int64)
    row = pair // kept
    y = tl.load(rows + row * D + d, mask=d < D, other=0)
    share = 1.0
    if SHARED:
        share = tl.load(shares + pair)
    return (row // LEAF).to(tl.int32), y, share


@triton.jit
def _add(
    leaf,
    y,
    share,
    is_there,
    mu,
    d,
    D,
    now,
    total,
    a,
    b,
    c,
    e,
    f,
    SHARED: tl.constexpr,
    SQUARED: tl.constexpr,
):
    """Add one row to the sum of its leaf; before another leaf, take sums higher."""
    if is_there:
        differs = leaf ^ now
        if differs != 0:
            total, a = _carry(total, a, now, differs, 0)
            total, b = _carry(total, b, now, differs, 1)
            total, c = _carry(total, c, now, differs, 2)
            total, e = _carry(total, e, now, differs, 3)
            total, f = _carry(total, f, now, differs, 4)
            now = leaf
        difference = tl.where(d < D, y.to(tl.float64) - mu, 1.0)
        if SQUARED:
            difference = difference * difference
        if SHARED:
            difference = share * difference
        total += difference
    return now, total, a, b, c, e, f


@triton.jit(do_not_specialize=["n_segments", "start", "stop"])
def sum_of_clusters(
    rows,
    means,
    order,
    offsets,
    shares,
    first_leaves,
    sums,
    n_segments,
    D,
    start,
    stop,
    kept,
    SHARED: tl.constexpr,
    SQUARED: tl.constexpr,
    COUNTED: tl.constexpr,
    LEAF: tl.constexpr,
    FEATURES: tl.constexpr,
):
    """Add up w q (y - mu), or its square, of one cluster's rows in one segment.

    Of features from `start` to `stop`; behind the features a share counts once. Four
    rows are loaded together, and added one after another.
    """
    group = tl.program_id(0).to(tl.int64)
    cluster, segment = group // n_segments, group % n_segments
    d = start + tl.program_id(1) * FEATURES + tl.arange(0, FEATURES)
    mu = tl.load(means + cluster * D + d, mask=d < D, other=0)
    begin, end = tl.load(offsets + group), tl.load(offsets + group + 1)
    first = tl.load(first_leaves + segment)
    total = tl.zeros((FEATURES,), dtype=tl.float64)
    a = tl.zeros((FEATURES,), dtype=tl.float64)
    b = tl.zeros((FEATURES,), dtype=tl.float64)
    c = tl.zeros((FEATURES,), dtype=tl.float64)
    e = tl.zeros((FEATURES,), dtype=tl.float64)
    f = tl.zeros((FEATURES,), dtype=tl.float64)
    now = tl.zeros_like(first)
    for i in range(begin, end, 4):
        leaf0, y0, q0 = _load(rows, order, shares, i, end, d, D, kept, SHARED, LEAF)
        leaf1, y1, q1 = _load(rows, order, shares, i + 1, end, d, D, kept, SHARED, LEAF)
        leaf2, y2, q2 = _load(rows, order, shares, i + 2, end, d, D, kept, SHARED, LEAF)
        leaf3, y3, q3 = _load(rows, order, shares, i + 3, end, d, D, kept, SHARED, LEAF)
        now, total, a, b, c, e, f = _add(
            leaf0 - first,
            y0,
            q0,
            i < end,
            mu,
            d,
            D,
            now,
            total,
            a,
            b,
            c,
            e,
            f,
            SHARED,
            SQUARED,
        )
        now, total, a, b, c, e, f = _add(
            leaf1 - first,
            y1,
            q1,
            i + 1 < end,
            mu,
            d,
            D,
            now,
            total,
            a,
            b,
            c,
            e,
            f,
            SHARED,
            SQUARED,
        )
        now, total, a, b, c, e, f = _add(
            leaf2 - first,
            y2,
            q2,
            i + 2 < end,
            mu,
            d,
            D,
            now,
            total,
            a,
            b,
            c,
            e,
            f,
            SHARED,
            SQUARED,
        )
        now, total, a, b, c, e, f = _add(
            leaf3 - first,
            y3,
            q3,
            i + 3 < end,
            mu,
            d,
            D,
            now,
            total,
            a,
            b,
            c,
            e,
            f,
            SHARED,
            SQUARED,
        )
    total = tl.where((now & 1) != 0, a + total, total)
    total = tl.where((now & 2) != 0, b + total, total)
    total = tl.where((now & 4) != 0, c + total, total)
    total = tl.where((now & 8) != 0, e + total, total)
    total = tl.where((now & 16) != 0, f + total, total)
    at = (segment * (tl.num_programs(0) // n_segments) + cluster) * (D + 1)
    tl.store(sums + at + d, total, mask=d < stop)
    if COUNTED:
        # Rows that weigh 1 add up to how many they are, in any order.
        tl.store(sums + at + D, (end - begin).to(tl.float64))
