"""On what, and with which versions, was this measured?"""

import platform
import statistics
import time
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import cprime
from benchmarks.settings import threads_from_environment
from cprime.kernels import get_kernel

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "faiss-cpu",
    "geokmeans",
)
SGEMM_SIDE = 2048


@lru_cache(maxsize=1)
def description() -> dict[str, Any]:
    """Return the processor, the versions and the peak, for JSON."""
    kernel = get_kernel("auto")
    return {
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "threads": threads_from_environment(),
        "versions": {"cprime": cprime.__version__}
        | {name: _version(name) for name in PACKAGES},
        "kernel": getattr(kernel, "__name__", type(kernel).__name__).split(".")[-1],
        "thread_pools": [
            {key: pool.get(key) for key in ("user_api", "version", "num_threads")}
            for pool in threadpool_info()
        ],
        "sgemm_gflops": sgemm_peak(),
        "fma_gflops": max(fma_rate() or 0.0 for _ in range(8)) or None,
    }


class Peak:
    """The float32 GFLOP/s a scan is held against, measured whenever it is called.

    A busy machine has less to give: the peak takes its turn among the contestants.
    """

    def __init__(self) -> None:
        self._measured: list[float] = []

    def __call__(self) -> None:
        self._measured.append(fma_rate() or sgemm_peak())

    @property
    def gflops(self) -> float:
        """Median of what was measured."""
        return statistics.median(self._measured)


def fma_rate() -> float | None:
    """Return the rate of fused multiply-adds just now, if our kernel can tell."""
    try:
        native = import_module("cprime.kernels.native")
    except ImportError:
        return None
    measure = getattr(native, "fma_peak", None)
    return None if measure is None else float(measure(threads_from_environment()))


@lru_cache(maxsize=1)
def sgemm_peak() -> float:
    """Return the best GFLOP/s of numpy's float32 matrix product."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, SGEMM_SIDE, SGEMM_SIDE), dtype=np.float32)
    out = np.empty_like(a)

    def seconds() -> float:
        start = time.perf_counter()
        np.matmul(a, b, out=out)
        return time.perf_counter() - start

    return 2e-9 * SGEMM_SIDE**3 / min(seconds() for _ in range(8))


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
