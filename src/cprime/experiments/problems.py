"""The paper's mixture and rows in memory, as the EM loop takes them."""

from cprime.kernels import get_kernel
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact, Lazy
from cprime.typing import Array


def problem_of(
    X: Array, C_prime: int, *, model: Isotropic | None = None, eps: float = 0.0
) -> Problem:
    """Return k-means-C' on these rows; with `eps` it is lazy-k-means."""
    search = Lazy(eps) if eps > 0.0 else Exact()
    kernel = get_kernel("auto")
    return Problem(MemoryRows(X), model or Isotropic(), search, kernel, C_prime)
