"""L, F and phi of parameters, at the cost of little more than one scan."""

from dataclasses import dataclass

from cprime import bounds
from cprime.kernels import get_kernel
from cprime.models import Isotropic
from cprime.rows import Rows
from cprime.theta import Theta


@dataclass(frozen=True)
class Quality:
    """The log-likelihood of parameters per row, and their quantization error."""

    L: float
    phi: float


def quality(rows: Rows, theta: Theta) -> Quality:
    """Return L(Theta) and phi(Theta) = sum_n min_c ||y_n - mu_c||^2.

    L is the free energy of C' = 1 plus its gap: no array of all rows and clusters.
    """
    kernel = get_kernel("auto")
    coefficients = Isotropic().coefficients(theta)
    distances = rows.map(
        lambda values, _: kernel.posterior(values, coefficients, 1).distances[:, 0]
    )
    phi = float(distances.sum())
    N, (C, D) = rows.n_rows, theta.means.shape
    hard = bounds.free_energy_of_entropy(
        theta.covariance, 0.0, C, D, variance_new=phi / (D * N)
    )
    gap = bounds.gap(rows, coefficients, C_prime=1, kernel=kernel)
    return Quality(hard + gap, phi)
