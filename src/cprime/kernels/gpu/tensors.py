"""Rows that a user has on the device, where they stay."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from cprime.blocks import Elsewhere
from cprime.kernels.gpu.devices import device, to_device
from cprime.typing import Array

FLOATS = {torch.float32: np.dtype(np.float32), torch.float64: np.dtype(np.float64)}
# Values that are looked for on the host together.
VALUES_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class DeviceRows(Elsewhere):
    """Rows that are a tensor on the device.

    Attributes
    ----------
    tensor : tensor of shape (B, D), float32 or float64
        Row after row.
    given : tensor
        As the user has it.
    """

    tensor: torch.Tensor
    given: torch.Tensor

    @classmethod
    def of(cls, given: torch.Tensor) -> "DeviceRows":
        """Return the rows of a tensor, or say why kernels cannot have them."""
        if given.device != device():
            raise ValueError(
                f"X is on {given.device}, and kernel='gpu' runs on {device()}: give "
                f"X.to('{device()}')."
            )
        if given.layout != torch.strided:
            raise TypeError(
                f"X is a tensor of {given.layout}: give a dense one, X.to_dense()."
            )
        if given.is_complex():
            raise ValueError(f"Complex data not supported: X is {given.dtype}.")
        tensor = given.detach()
        if tensor.dtype not in FLOATS:
            tensor = tensor.double()
        return cls(tensor.contiguous(), given)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def dtype(self) -> Any:
        return FLOATS[self.tensor.dtype]

    @cached_property
    def largest(self) -> float:
        lowest, highest = torch.aminmax(self.tensor)
        return float(torch.maximum(highest, -lowest))

    def __getitem__(self, rows: Any) -> "DeviceRows":
        if not isinstance(rows, slice):
            rows = to_device(np.asarray(rows))
        return DeviceRows(self.tensor[rows], self.given)

    def __mul__(self, factor: float) -> "DeviceRows":
        return DeviceRows(self.tensor * factor, self.given)

    def here(self) -> Array:
        found: Array = self.tensor.cpu().numpy()
        return found

    def beside(self, found: Array) -> torch.Tensor:
        return to_device(found)

    def first(self, where: Callable[[Array], Array]) -> tuple[int, int, float, int]:
        hit, count = None, 0
        at_once = max(1, VALUES_AT_ONCE // self.tensor.shape[1])
        for start in range(0, len(self), at_once):
            values = self[start : start + at_once].here()
            places = np.argwhere(where(values))
            if hit is None and len(places) > 0:
                row, column = (int(i) for i in places[0])
                hit = start + row, column, float(values[row, column])
            count += len(places)
        assert hit is not None
        return *hit, count
