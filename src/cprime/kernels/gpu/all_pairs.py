"""Canonical distances of rows to all clusters.

As those of `canonical`; only the memory they are read from is another.
"""

import torch
import triton
import triton.language as tl

from cprime.kernels.gpu.model import DeviceModel

# Rows and clusters a program looks at.
ROWS, CLUSTERS = 16, 32
# In the second dimension of a grid.
MOST_PROGRAMS = 2**16 - 1


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
def squares_of(
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
def to_all(
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
        squares = squares_of(
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


def distances_to_all(rows: torch.Tensor, model: DeviceModel):
    """Return squared distances of rows to all clusters, shape (B, C), float64."""
    (n_rows, D), C = rows.shape, model.C
    found = torch.empty((n_rows, C), dtype=torch.float64, device=rows.device)
    n_programs = -(-n_rows // ROWS)
    if n_programs > MOST_PROGRAMS:
        parts = rows.split(MOST_PROGRAMS * ROWS)
        return torch.cat([distances_to_all(part, model) for part in parts])
    to_all[(triton.cdiv(C, CLUSTERS), n_programs)](
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
