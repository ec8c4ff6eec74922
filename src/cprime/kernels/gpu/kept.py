"""The clusters that rows keep, where the rows are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from cprime.blocks import Kept
from cprime.typing import Array

# Clusters of so many rows are handed out at once.
ROWS_AT_ONCE = 2**18


@dataclass(frozen=True, eq=False)
class DeviceKept:
    """The clusters every row of a block keeps, on the device.

    Attributes
    ----------
    clusters : tensor of shape (B, C'), int32
        Best first. With C' = C there is nothing to remember and the shape is (B, 0).
    changed : float
        As of `Kept`.
    """

    clusters: torch.Tensor
    changed: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return self.clusters.shape[0], self.clusters.shape[1]

    @property
    def K(self) -> Array:
        """The clusters of all rows, in the memory of the host."""
        return self.array()

    def parts(self) -> Iterator[Array]:
        """Yield the clusters of consecutive rows, from the first to the last."""
        for part in self.clusters.split(ROWS_AT_ONCE):
            yield part.cpu().numpy()

    def array(self) -> Array:
        """Return the clusters of all rows, in the memory of the host."""
        found: Array = self.clusters.cpu().numpy()
        return found

    def labels(self) -> Array | None:
        """Return each row's closest cluster, unless K does not hold it (C' = C)."""
        if self.clusters.shape[1] == 0:
            return None
        found: Array = self.clusters[:, 0].cpu().numpy()
        return found

    def part(self, rows: Any) -> Kept:
        """Return what these rows keep."""
        places = torch.as_tensor(np.asarray(rows), device=self.clusters.device)
        return Kept(self.clusters[places].cpu().numpy())

    def reassigned(self, rows: Array, cluster: int) -> "DeviceKept":
        """Return the same with these rows, of one cluster each, moved to `cluster`."""
        clusters = self.clusters.clone()
        clusters[torch.as_tensor(rows, device=clusters.device)] = cluster
        return DeviceKept(clusters)
