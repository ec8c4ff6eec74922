"""How are rows swept?"""

from typing import Protocol

from cprime.blocks import Block, Kept
from cprime.kernels import native, reference
from cprime.search import Plan
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.truncation import Truncated
from cprime.typing import Array


class Kernel(Protocol):
    """Arrays in, arrays out: rows that lie together, no files, no loop, no policy."""

    def sweep(
        self,
        block: Block,
        kept: Kept | None,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[Kept, LeafSum]:
        """Update the clusters of every row and add up the statistics of all leaves."""

    def posterior(
        self, values: Array, coefficients: Coefficients, C_prime: int
    ) -> Truncated:
        """Return the C' closest clusters of every row and their log-joints."""

    def nearest(self, values: Array, coefficients: Coefficients) -> Array:
        """Return the closest cluster of every row, shape (B,)."""

    def gaps(self, values: Array, K: Array, coefficients: Coefficients) -> Array:
        """Return the nats every row loses by looking at the clusters in K alone."""

    def distances(self, values: Array, means: Array) -> Array:
        """Return ||y - mu_c||^2 for every row and every mean."""

    def trial_losses(
        self,
        values: Array,
        weights: Array,
        nearest: Array,
        owner: Array,
        seeds: Array,
        trials: Array,
    ) -> tuple[Array, int]:
        """Return sum w min(nearest, distance) of each trial, and distances computed.

        `nearest` is every row's squared distance to its nearest seed, seeds[owner].
        """

    def accept_trial(
        self, values: Array, nearest: Array, owner: Array, seeds: Array, trial: Array
    ) -> tuple[Array, Array, int]:
        """Return `nearest` and `owner` with a further seed, and distances computed."""


_KERNELS: dict[str, Kernel] = {"native": native, "reference": reference}


def get_kernel(name: str) -> Kernel:
    """Return the kernel of that name; only "auto" leaves the choice to us."""
    return _KERNELS["native" if name == "auto" else name]
