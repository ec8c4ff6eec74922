"""Programs of Triton run on a GPU, or else in its interpreter, which is slow."""

import os
from importlib.util import find_spec

if find_spec("torch") is not None:
    import torch

    if not torch.cuda.is_available():
        # Before Triton is imported.
        os.environ["TRITON_INTERPRET"] = "1"
