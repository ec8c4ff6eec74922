"""How is one block of rows swept?"""

from typing import Protocol

from cprime.kernels import reference
from cprime.search import Plan
from cprime.stats import Stats
from cprime.theta import Coefficients
from cprime.truncation import Truncated
from cprime.typing import Array


class Kernel(Protocol):
    """Arrays in, arrays out: one block of rows, no files, no loop, no policy."""

    def sweep(
        self,
        values: Array,
        weights: Array,
        K: Array | None,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[Array, Stats]:
        """Update the clusters of every row and add up the block's statistics."""

    def posterior(
        self, values: Array, coefficients: Coefficients, C_prime: int
    ) -> Truncated:
        """Return the C' closest clusters of every row and their log-joints."""

    def distances(self, values: Array, means: Array) -> Array:
        """Return ||y - mu_c||^2 for every row and every mean."""


_KERNELS: dict[str, Kernel] = {"reference": reference}


def get_kernel(name: str) -> Kernel:
    """Return the kernel of that name; only "auto" leaves the choice to us."""
    return _KERNELS["reference" if name == "auto" else name]
