"""L and phi of parameters, without an array of all rows and clusters."""

from dataclasses import dataclass

from cprime import bounds
from cprime.kernels import get_kernel
from cprime.models import Isotropic
from cprime.rows import Rows
from cprime.theta import Theta
from cprime.typing import Array


@dataclass(frozen=True)
class Quality:
    """The log-likelihood of parameters per row, and their quantization error."""

    L: float
    phi: float


def quality(rows: Rows, theta: Theta) -> Quality:
    """Return L(Theta) and phi(Theta) = sum_n min_c ||y_n - mu_c||^2.

    L is the free energy of C' = 1 plus its gap.
    """
    kernel = get_kernel("auto")
    coefficients = Isotropic().coefficients(theta)

    def of_rows(values: Array, weights: Array) -> tuple[Array, Array]:
        nearest = kernel.posterior(values, coefficients, 1)
        lost = kernel.gaps(values, nearest.K, coefficients)
        return nearest.distances[:, 0], lost

    distances, gaps = rows.map(of_rows)
    phi = float(distances.sum())
    N, (C, D) = rows.n_rows, theta.means.shape
    hard = bounds.free_energy_of_entropy(
        theta.covariance, 0.0, C, D, variance_new=phi / (D * N)
    )
    return Quality(hard + float(gaps.mean()), phi)
