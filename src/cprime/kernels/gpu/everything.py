"""What do rows add up to that are divided among all clusters (C' = C)?

Distances, and sums of shares times rows, are products of matrices in float64 where
their rounding says nothing; elsewhere they are formed from differences.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from cprime.blocks import LEAF_ROWS
from cprime.kernels.gpu.model import DeviceModel
from cprime.kernels.gpu.residents import Piece

CLUSTERS, FEATURES = 128, 32
# Products may put a log-joint off by so many nats.
MOST_NATS = 1e-10
ROUNDING = 2.0**-53


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


@dataclass(frozen=True)
class Products:
    """Distances and sums of rows as products of matrices.

    ||y - mu||^2 = ||y||^2 - 2 y.mu + ||mu||^2, counted from the middle of the rows:
    what it loses by cancellation is a rounding error of ||y||^2 + ||mu||^2. Always the
    same number of leaves goes into one product, so that its bits do not depend on how
    many rows follow. They do depend on the piece, whose middle is the origin.

    Attributes
    ----------
    origin : tensor of shape (D,)
    means : tensor of shape (C, D)
        From there.
    factors : tensor of shape (C, D + 2)
        Of a row's features, of one, and of its squared length.
    """

    origin: torch.Tensor
    means: torch.Tensor
    factors: torch.Tensor

    @classmethod
    def of(cls, piece: Piece, model: DeviceModel) -> "Products | None":
        """Return those of a model, unless rounding errors could be seen."""
        if model.is_of_features:
            return None
        origin = piece.frame.origin
        means = model.means - origin
        squares = (means * means).sum(dim=1, keepdim=True)
        widths = model.whitening**2
        reach = squares.max().sqrt() + piece.reach
        nats = model.scale[0] * widths.max() * reach * reach * (4.0 * ROUNDING)
        if not bool(nats <= MOST_NATS):
            return None
        factors = torch.cat([-2.0 * means, squares, torch.ones_like(squares)], dim=1)
        if model.is_of_clusters:
            factors = factors * widths[:, None]
        return cls(origin, means, factors)

    def columns(self, rows: torch.Tensor) -> torch.Tensor:
        """Return features from the origin, one, and squared lengths, (B, D + 2)."""
        n_rows, D = rows.shape
        found = torch.ones((n_rows, D + 2), dtype=torch.float64, device=rows.device)
        torch.sub(rows, self.origin, out=found[:, :D])
        found[:, D + 1] = (found[:, :D] ** 2).sum(dim=1)
        return found

    def distances(self, columns: torch.Tensor) -> torch.Tensor:
        """Return squared distances of rows to all clusters, shape (B, C)."""
        return columns @ self.factors.T

    def sums(self, columns: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        """Return moments of whole leaves, shape (L, C, D + 1)."""
        C, D = self.means.shape
        of_leaves = shares.view(-1, LEAF_ROWS, C).transpose(1, 2)
        found = of_leaves @ columns[:, : D + 1].view(-1, LEAF_ROWS, D + 1)
        found[..., :D] -= found[..., D:] * self.means
        return found
