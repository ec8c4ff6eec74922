"""Programs of Triton run on a GPU, or else in its interpreter, which is slow."""

import os
from importlib.util import find_spec

import pytest

if find_spec("torch") is not None:
    import torch

    if not torch.cuda.is_available():
        # Before Triton is imported.
        os.environ["TRITON_INTERPRET"] = "1"


@pytest.fixture(autouse=True)
def few_leaves_at_once(monkeypatch):
    """Products of many leaves take long in the interpreter."""
    if os.environ.get("TRITON_INTERPRET") == "1":
        monkeypatch.setattr("cprime.kernels.gpu.sweeping.LEAVES_AT_ONCE", 1)
