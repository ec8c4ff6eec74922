"""What does the device know of a model?"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from cprime.kernels.gpu.devices import to_device
from cprime.theta import Coefficients
from cprime.typing import Array


@dataclass(frozen=True)
class DeviceModel:
    """The numbers of `Coefficients`, as tensors.

    Attributes
    ----------
    means : tensor of shape (C, D), float64
    whitening : tensor of shape (), (C,) or (C, D), float64
        Of one number for all clusters distances know nothing.
    penalty : tensor of shape (C,), float64, or None
        What each cluster's squared distance is handicapped by in a ranking.
    scale : tensor of shape (2,), float64
        How many nats a unit of squared distance costs, and the highest bias. As
        arguments of a program they would be float32.
    """

    means: torch.Tensor
    whitening: torch.Tensor
    penalty: torch.Tensor | None
    scale: torch.Tensor

    @classmethod
    def of(cls, coefficients: Coefficients) -> "DeviceModel":
        """Return a model on the device, or say that it is none of its own."""
        whitening, bias = np.asarray(coefficients.whitening), coefficients.bias
        if whitening.ndim == 3:
            raise ValueError(
                "kernel='gpu' serves isotropic, spherical and diagonal clusters, not "
                "covariance_type='full' or 'tied': use kernel='native' for those."
            )
        alike = bool((bias == bias[0]).all())
        return cls(
            to_device(np.ascontiguousarray(coefficients.means), torch.float64),
            to_device(whitening, torch.float64).contiguous(),
            None if alike else to_device(coefficients.penalty(), torch.float64),
            to_device(np.array([coefficients.sharpness, bias.max()])),
        )

    @classmethod
    def of_means(cls, means: Array | torch.Tensor) -> "DeviceModel":
        """Return clusters that are no more than their means."""
        there = to_device(means, torch.float64).contiguous()
        one = torch.ones((), dtype=torch.float64, device=there.device)
        return cls(there, one, None, torch.zeros_like(one.expand(2)))

    @property
    def C(self) -> int:
        return len(self.means)

    @property
    def is_of_clusters(self) -> bool:
        """Whether every cluster has one whitening of its own."""
        return self.whitening.ndim == 1

    @property
    def is_of_features(self) -> bool:
        """Whether every cluster has a whitening for every feature."""
        return self.whitening.ndim == 2

    @cached_property
    def columns(self) -> torch.Tensor:
        """Means feature by feature, shape (D, C)."""
        return self.means.T.contiguous()

    @cached_property
    def whitening_columns(self) -> torch.Tensor:
        """Whitenings, feature by feature if there is one for each."""
        return self.whitening.T.contiguous() if self.is_of_features else self.whitening

    @cached_property
    def handicaps(self) -> torch.Tensor:
        """The penalties, which may all be zero, shape (C,)."""
        if self.penalty is not None:
            return self.penalty
        return torch.zeros(self.C, dtype=torch.float64, device=self.means.device)

    def scores(self, distances: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
        """Return distances of clusters K with their handicaps, by which they rank."""
        if self.penalty is None:
            return distances
        return distances + self.penalty[K.long()]
