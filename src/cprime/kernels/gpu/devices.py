"""Which device do kernels run on, and what is missing where there is none?"""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import torch

# Triton runs its programs in numpy if this says so: slow, and without a GPU.
INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") == "1"


class NoDeviceError(RuntimeError):
    """A GPU was asked for where there is none that serves."""


class NoRoomError(MemoryError):
    """What is computed on a GPU takes more memory than it has left."""


@contextmanager
def told_if_full() -> Iterator[None]:
    """Say what can be done where the memory of the device does not do."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        reason = str(error).partition(". ")[0]
        raise NoRoomError(
            f"The memory of the GPU does not hold what is computed of these rows: "
            f"{reason}. Give fewer rows or clusters at a time, or float32; free memory "
            "that others hold; or use kernel='native', with rows in the memory of the "
            "host."
        ) from error


@cache
def device() -> torch.device:
    """Return the GPU that kernels run on, or say why there is none."""
    if INTERPRETED:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise NoDeviceError(
            "kernel='gpu' needs an NVIDIA GPU, and torch "
            f"{torch.__version__} finds none here: use kernel='native', or install a "
            "driver and a torch that go together (torch.cuda.is_available())."
        )
    if torch.version.hip is not None:
        raise NoDeviceError(
            "kernel='gpu' is written for NVIDIA GPUs, and this torch is built for "
            "AMD's: use kernel='native'."
        )
    major, minor = torch.cuda.get_device_capability()
    if major < 7:
        raise NoDeviceError(
            f"kernel='gpu' needs a GPU with tensor cores (compute capability 7.0), and "
            f"{torch.cuda.get_device_name()} has {major}.{minor}: use kernel='native'."
        )
    return torch.device("cuda", torch.cuda.current_device())


def to_device(array: Any, dtype: Any = None) -> torch.Tensor:
    """Return an array as a tensor on the device; one of numpy is copied."""
    if isinstance(array, torch.Tensor):
        return array.to(device(), dtype)
    if not INTERPRETED and isinstance(array, np.ndarray) and array.flags.writeable:
        # Otherwise it would be copied on the host before.
        return torch.from_numpy(array).to(device(), dtype)
    return torch.tensor(array, dtype=dtype, device=device())


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Free no forgotten recording while another one is made: it would fail."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Replayed:
    """Runs the same programs again and again, from the second time on all in one go.

    To start dozens of programs one by one takes longer than they do, where rows are
    few.

    Parameters
    ----------
    body : callable
        Works on the same tensors every time, and never waits for the host.
    """

    def __init__(self, body: Callable[[], None]):
        self._body = body
        self._graph: torch.cuda.CUDAGraph | None = None
        self._is_compiled = False

    def run(self) -> None:
        """Run it once more."""
        if self._graph is not None:
            self._graph.replay()
        elif INTERPRETED or not self._is_compiled:
            self._body()
            self._is_compiled = True
        else:
            self._graph = self._recorded()
            self._graph.replay()

    def _recorded(self) -> torch.cuda.CUDAGraph:
        graph, aside = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside), _no_garbage_collected():
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                self._body()
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(aside)
        return graph


def free_bytes() -> int:
    """Return how much memory of the device may still be taken."""
    if INTERPRETED:
        return 2**30
    free, _ = torch.cuda.mem_get_info()
    unused = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
    return int(free + unused)
