"""How many threads may compiled code use?"""

import os
from pathlib import Path

from threadpoolctl import LibController, register

from cprime.kernels import _native


def allowed_threads() -> int:
    """Return how many threads the environment leaves us.

    `OMP_NUM_THREADS` says what a user wants; the processors this process may run on,
    and the share of them its control group grants, say what there is.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return max(1, min(_processors(), _granted()))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _granted(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the processors a Linux control group grants, rounded up."""
    try:
        quota, period = (root / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            quota = (root / "cpu/cpu.cfs_quota_us").read_text().strip()
            period = (root / "cpu/cpu.cfs_period_us").read_text().strip()
        except OSError:
            return _processors()
    if not quota.isdigit() or not period.isdigit() or int(period) == 0:
        return _processors()
    return max(1, -(-int(quota) // int(period)))


class CprimeController(LibController):  # type: ignore[misc]
    """Tells threadpoolctl how our threads are counted and limited."""

    user_api = "cprime"
    internal_api = "cprime"
    filename_prefixes = ("_native",)
    check_symbols = ("cprime_get_num_threads", "cprime_set_num_threads")

    def get_num_threads(self) -> int:
        return _native.get_num_threads()

    def set_num_threads(self, num_threads: int) -> None:
        _native.set_num_threads(num_threads)

    def get_version(self) -> None:
        return None

    def set_additional_attributes(self) -> None:
        self.path = _native.isa_name()


def adopt_environment() -> None:
    """Use as many threads as the environment allows, and listen to threadpoolctl."""
    _native.set_num_threads(allowed_threads())
    register(CprimeController)
