"""Is this a tensor on a GPU? Nobody else has to import torch to know."""

import os
import sys
from typing import Any

from cprime.blocks import Elsewhere


def is_on_gpu(given: Any) -> bool:
    """Return whether this is a tensor of torch on a GPU.

    Where Triton's interpreter takes the place of a GPU, that of its tensors is here.
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(given, torch.Tensor):
        return False
    is_interpreted = os.environ.get("TRITON_INTERPRET", "0") == "1"
    wanted = "cpu" if is_interpreted else "cuda"
    return bool(given.device.type == wanted)


def rows_on_gpu(given: Any) -> Elsewhere:
    """Return the rows of a tensor on a GPU, or say why kernels cannot have them."""
    from cprime.kernels.gpu.tensors import DeviceRows

    return DeviceRows.of(given)


def from_gpu(given: Any) -> Any:
    """Return a tensor on a GPU as an array, and anything else as it is.

    For what is small beside rows: parameters, labels, weights.
    """
    return given.detach().cpu().numpy() if is_on_gpu(given) else given
