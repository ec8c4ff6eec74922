"""Rows and means as numbers of half precision, and how far off they are.

Both are moved by the same origin and scaled by the same power of two, in float64,
before they are rounded.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
import triton
import triton.language as tl

from cprime.kernels.gpu.devices import to_device
from cprime.kernels.gpu.model import DeviceModel
from cprime.kernels.gpu.ranking import NEVER, SLOTS, padded_width

# Values of rows are scaled to less than this.
LARGEST = 2.0**10
# Means farther out are as far as halves can tell.
LARGEST_MEAN = 2.0**14
# Half of the smallest difference between halves.
LEAST = 2.0**-25
# Norms are rounded up by this much more than float64 and float32 may have lost.
SAFE = 1.0 + 1e-6
# Rows that are converted at once.
AT_ONCE = 2**18
CLUSTERS_OF_PROGRAM = 4


@dataclass(frozen=True)
class Frame:
    """Where halves are counted from, and in which unit.

    Attributes
    ----------
    origin : tensor of shape (D,), float64
    scale : float
        A power of two.
    blur : float
        How far, in scaled units, moving a row or a mean to the origin may put it off.
    """

    origin: torch.Tensor
    scale: float
    blur: float

    @classmethod
    def of(cls, rows: torch.Tensor) -> "Frame":
        """Return the frame of some rows, in whose middle it is."""
        lowest, highest = (of.double() for of in torch.aminmax(rows, dim=0))
        # A mean of halves of values: it may not overflow, and need not be exact.
        halved = [(0.5 * part.double()).sum(dim=0) for part in rows.split(AT_ONCE)]
        origin = 2.0 * (torch.stack(halved) / len(rows)).sum(dim=0)
        origin = torch.minimum(torch.maximum(origin, lowest), highest)
        reach = float(torch.maximum(highest - origin, origin - lowest).max())
        exponent = torch.frexp(torch.tensor(reach, dtype=torch.float64)).exponent
        scale = LARGEST * 2.0 ** -int(exponent) if reach > 0 else 1.0
        farthest = float(torch.maximum(lowest.abs(), highest.abs()).max())
        blur = farthest * 2.0**-52 * len(origin) ** 0.5 * scale * SAFE
        return cls(origin, scale, blur)

    @cached_property
    def numbers(self) -> torch.Tensor:
        """The scale, the blur and `least`, shape (3,).

        As arguments of a program they would be float32.
        """
        return to_device(np.array([self.scale, self.blur, self.least]))

    @property
    def least(self) -> float:
        """How far off halves may be where they have no more digits."""
        return float(LEAST * len(self.origin) ** 0.5 * SAFE)

    def moved(self, values: torch.Tensor) -> torch.Tensor:
        """Return rows in this frame, float64."""
        return (values.double() - self.origin) * self.scale


@dataclass(frozen=True)
class RowHalves:
    """Rows as halves.

    Attributes
    ----------
    values : tensor of shape (B, W), float16
    norms : tensor of shape (B,), float64
        How long a row is.
    errors : tensor of shape (B,), float32
        How long what halves leave out of it is.
    """

    values: torch.Tensor
    norms: torch.Tensor
    errors: torch.Tensor

    @classmethod
    def of(cls, rows: torch.Tensor, frame: Frame) -> "RowHalves":
        """Return rows as halves, in a frame."""
        n_rows, D = rows.shape
        values = torch.zeros(
            (n_rows, padded_width(D)), dtype=torch.float16, device=rows.device
        )
        norms = torch.empty(n_rows, dtype=torch.float64, device=rows.device)
        errors = torch.empty(n_rows, dtype=torch.float32, device=rows.device)
        for start in range(0, n_rows, AT_ONCE):
            some = slice(start, start + AT_ONCE)
            moved = frame.moved(rows[some])
            values[some, :D] = moved
            norms[some] = moved.norm(dim=1)
            errors[some] = (moved - values[some, :D]).norm(dim=1) * SAFE
        return cls(values, norms, errors)


@dataclass(frozen=True)
class MeanHalves:
    """Means as halves, times -2, and how far off they are.

    Attributes
    ----------
    values : tensor of shape (T x 64, W), float16
    offsets : tensor of shape (T x 64,), float32
        ||mu_c||^2 and the handicap.
    share : tensor of shape (), float64
        What halves leave out of a mean is at most this share of its length, and the
        `least` of the frame.
    """

    values: torch.Tensor
    offsets: torch.Tensor
    share: torch.Tensor

    @classmethod
    def of(cls, model: DeviceModel, frame: Frame) -> "MeanHalves":
        """Return the means of a model as halves, in a frame."""
        (C, D), device = model.means.shape, model.means.device
        count, width = -(-C // SLOTS) * SLOTS, padded_width(D)
        values = torch.empty((count, width), dtype=torch.float16, device=device)
        offsets = torch.empty(count, dtype=torch.float32, device=device)
        shares = torch.empty(count, dtype=torch.float64, device=device)
        features = triton.next_power_of_2(width)
        _halve_means[(triton.cdiv(count, CLUSTERS_OF_PROGRAM),)](
            model.means,
            model.handicaps,
            frame.origin,
            values,
            offsets,
            shares,
            frame.numbers,
            C,
            D,
            count,
            width,
            LARGEST_MEAN=LARGEST_MEAN,
            NEVER=NEVER,
            CLUSTERS=CLUSTERS_OF_PROGRAM,
            FEATURES=features,
        )
        return cls(values, offsets, shares.max() * SAFE)


@triton.jit(do_not_specialize=["C", "count"])
def _halve_means(
    means,
    handicaps,
    origin,
    values,
    offsets,
    shares,
    numbers,
    C,
    D,
    count,
    width,
    LARGEST_MEAN: tl.constexpr,
    NEVER: tl.constexpr,
    CLUSTERS: tl.constexpr,
    FEATURES: tl.constexpr,
):
    cluster = tl.program_id(0) * CLUSTERS + tl.arange(0, CLUSTERS)
    d = tl.arange(0, FEATURES)
    scale, least = tl.load(numbers), tl.load(numbers + 2)
    known = (cluster < C)[:, None] & (d < D)[None, :]
    mu = tl.load(means + cluster[:, None] * D + d[None, :], mask=known, other=0)
    moved = (mu - tl.load(origin + d, mask=d < D, other=0)[None, :]) * scale
    moved = tl.where(known, moved, 0.0)
    near = tl.minimum(tl.maximum(moved, -LARGEST_MEAN), LARGEST_MEAN)
    half = near.to(tl.float32).to(tl.float16)
    there = (cluster < count)[:, None] & (d < width)[None, :]
    at = cluster[:, None] * width + d[None, :]
    tl.store(values + at, half * -2.0, mask=there)
    missing = moved - half.to(tl.float64)
    length = tl.sum(moved * moved, 1)
    handicap = tl.load(handicaps + cluster, mask=cluster < C, other=0)
    offset = tl.minimum(length + handicap * (scale * scale), 0.5 * NEVER)
    offset = tl.where(cluster < C, offset, NEVER).to(tl.float32)
    tl.store(offsets + cluster, offset, mask=cluster < count)
    left = tl.sqrt(tl.sum(missing * missing, 1)) - least
    share = tl.where(left > 0, left / tl.sqrt(length), 0.0)
    tl.store(shares + cluster, share, mask=cluster < count)
