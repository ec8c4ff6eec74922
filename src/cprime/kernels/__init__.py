"""How are rows swept?"""

from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np

from cprime.blocks import Block, Elsewhere
from cprime.kernels import native, reference
from cprime.kernels.missing import Marginal
from cprime.search import Plan
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.truncation import Truncated
from cprime.typing import Array


class Kernel(Protocol):
    """Arrays in, arrays out: rows that lie together, no files, no loop, no policy."""

    def prepare(self, block: Block) -> Any:
        """Return the block as this kernel sweeps it many times: as it is, or a copy."""

    def sweep(
        self,
        block: Any,
        kept: Any,
        coefficients: Coefficients,
        plan: Plan,
        C_prime: int,
    ) -> tuple[Any, LeafSum]:
        """Update the clusters of every row and add up the statistics of all leaves.

        The block may be one that was prepared. What its rows keep is then the kernel's
        to know, with the members of `Kept`; otherwise it is `Kept`. Sums whose total is
        None call for another sweep with a careful plan.
        """

    def posterior(
        self, values: Array, coefficients: Coefficients, C_prime: int
    ) -> Truncated:
        """Return the C' closest clusters of every row and their log-joints."""

    def nearest(self, values: Array, coefficients: Coefficients) -> Array:
        """Return the closest cluster of every row, shape (B,)."""

    def gaps(self, values: Array, K: Array, coefficients: Coefficients) -> Array:
        """Return the nats every row loses by looking at the clusters in K alone."""

    def log_sums(self, relative: Array) -> Array:
        """Return log sum exp of every row of values that are at most 0, shape (B,)."""

    def distances(self, values: Array, means: Array) -> Array:
        """Return ||y - mu_c||^2 for every row and every mean."""

    def nearer(
        self, values: Array, means: Array, known: Array, nearest: Array, owner: Array
    ) -> tuple[Array, Array]:
        """Return ||y - mu||^2 of the nearest mean, and which it is, of more means.

        Parameters
        ----------
        values : ndarray of shape (B, D)
        means : ndarray of shape (any, D)
            Looked at besides those of before; they are numbered after them.
        known : ndarray of shape (any, D)
            The means of before.
        nearest, owner : ndarray of shape (B,)
            What they gave; of two that are as near, the one of before stays. Without
            any, infinities and zeros.
        """

    def near_clusters(
        self, coefficients: Coefficients, lists: Array | None, count: int
    ) -> tuple[Array, int]:
        """Return so many clusters near each, best first, and distances computed.

        Those of which its mean would most likely be a row, ties to the lowest index. Of
        those on its list, and on the lists of the first on that; without lists, of all.
        """

    def runs(self, plan: Plan, coefficients: Coefficients) -> bool:
        """Return whether there is a sweep for this plan and model."""

    def draw_seeds(
        self, block: Block, line: Array, first: int, points: Array
    ) -> tuple[Array, int]:
        """Choose seeds by D^2 sampling; return their rows, and distances computed.

        Parameters
        ----------
        block : Block
            Some of its weights are positive.
        line : ndarray of shape (B,), int64
            The rows in the order in which their masses are cumulated.
        first : int
            Where on the line the first seed is.
        points : ndarray of shape (C - 1, T)
            Each further seed is the best of the rows at T points, in [0, 1), of the
            cumulated weight times squared distance to the nearest seed.
        """

    def fits_at_once(self, n_rows: int, C: int, D: int) -> int:
        """Return how many fits of this size get on better side by side."""


# Log-joints of so many rows and clusters are held in memory at once.
JOINTS_AT_ONCE = 2**22


class _Choice(NamedTuple):
    """What runs under a name: for complete rows, and for rows that lack values.

    The name of a module is that of one that takes more packages than others.
    """

    complete: Kernel | str
    missing: Kernel | None = None


# The best first, of those that run anywhere.
_KERNELS = {
    "native": _Choice(native),
    "reference": _Choice(reference, Marginal()),
    "gpu": _Choice("cprime.kernels.gpu"),
}
KERNEL_NAMES = ("auto", *_KERNELS)


def get_kernel(name: str, *, missing: bool = False) -> Kernel:
    """Return the kernel of that name; only "auto" leaves the choice to us.

    Parameters
    ----------
    name : {"auto", "native", "reference", "gpu"}
    missing : bool, default=False
        Whether rows lack values, which not every kernel knows.
    """
    able = {
        key: kernel
        for key, of in _KERNELS.items()
        if (kernel := of.missing if missing else of.complete) is not None
    }
    if name == "auto":
        return _loaded(next(iter(able.values())))
    if name not in able:
        others = " or ".join(map(repr, ("auto", *able)))
        raise ValueError(
            f"kernel={name!r} does not support missing values: use {others}."
        )
    return _loaded(able[name])


def kernel_for(X: Any, name: str, *, missing: bool = False) -> Kernel:
    """Return the kernel of that name for rows where they are, or say why not.

    Parameters
    ----------
    X : ndarray, CSR matrix, Data or Elsewhere
        "auto" never moves it to a GPU, nor from there.
    name : {"auto", "native", "reference", "gpu"}
    missing : bool, default=False
        As for `get_kernel`.
    """
    if not isinstance(X, Elsewhere):
        return get_kernel(name, missing=missing)
    if name not in ("auto", "gpu"):
        raise ValueError(
            f"X is on a GPU, and kernel={name!r} computes in the memory of the host: "
            "use kernel='gpu', or give a copy there, X.cpu().numpy()."
        )
    return get_kernel("gpu", missing=missing)


def _loaded(kernel: Any) -> Kernel:
    found: Kernel = import_module(kernel) if isinstance(kernel, str) else kernel
    return found


def free_energies(
    kernel: Kernel, values: Array, coefficients: Coefficients, C_prime: int
) -> Array:
    """Return log sum_{c in K_n} p(c, y_n | Theta) of every row, K its C' closest.

    With C' = C it is the row's log density.
    """
    at_once = max(1, JOINTS_AT_ONCE // C_prime)
    found = np.empty(len(values))
    for start in range(0, len(values), at_once):
        part = slice(start, start + at_once)
        truncated = kernel.posterior(values[part], coefficients, C_prime)
        found[part] = truncated.highest[:, 0] + kernel.log_sums(truncated.relative)
    return found
