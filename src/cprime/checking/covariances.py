"""What `covariance_type` means: a model, and how its covariances look to a user."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.models import Diagonal, Full, Isotropic, Model, Spherical, Tied
from cprime.models.matrices import clipped, inverted, whitening
from cprime.theta import Given
from cprime.typing import Array


@dataclass(frozen=True)
class Covariances:
    """One `covariance_type`.

    Attributes
    ----------
    name : str
    of : callable
        Floor, whether proportions are equal, and what is given -> Model.
    shape : callable
        C, D -> shape of `covariances_`.
    inverted : callable
        Covariances -> precisions, and back.
    are_matrices : bool, default=False
    """

    name: str
    of: Callable[[Array, bool, Given], Model]
    shape: Callable[[int, int], tuple[int, ...]]
    inverted: Callable[[Any], Any]
    are_matrices: bool = False

    @property
    def resolution(self) -> float:
        """The smallest share of the variance of all rows that float64 can do with."""
        # Products with the inverse of a matrix lose as many digits as it spans.
        return 1e-10 if self.are_matrices else float(np.finfo(np.float64).eps) ** 2

    def seen(self, covariance: Any) -> Any:
        """Return a model's covariances in the shape a user sees."""
        return covariance[0] if self.name == "tied" else covariance

    def kept(self, covariances: Any) -> Any:
        """Return a user's covariances in the shape of the model."""
        if self.name == "isotropic":
            return float(covariances)
        values = np.asarray(covariances, dtype=np.float64)
        return values[None] if self.name == "tied" else values

    def kept_shape(self, C: int, D: int) -> tuple[int, ...]:
        """Return the shape of the model's covariances."""
        return (1, D, D) if self.name == "tied" else self.shape(C, D)

    def diagonals(self, covariance: Any, C: int, D: int) -> Array:
        """Return the variance of every feature in every cluster, shape (C, D)."""
        if self.are_matrices:
            return np.broadcast_to(np.diagonal(covariance, axis1=1, axis2=2), (C, D))
        variances = np.asarray(covariance, dtype=np.float64)
        if variances.ndim == 1:
            variances = variances[:, None]
        return np.broadcast_to(variances, (C, D))

    def scatter_of(self, covariance: Any, counts: Array, D: int) -> Any:
        """Return the scatter of clusters with these covariances and counts.

        In the shape of `Stats.scatter`, the sums of squares of which a covariance is
        the mean.
        """
        if self.name == "isotropic":
            return float(covariance) * D * float(np.sum(counts))
        if self.name == "spherical":
            return covariance * D * counts
        if self.name == "tied":
            return covariance * np.sum(counts)
        return covariance * counts.reshape(-1, *(1,) * (covariance.ndim - 1))

    def held(self, covariance: Any, dtype: Any, margin: float = 1.0) -> Any:
        """Return a model's covariances that stay positive when rounded to `dtype`.

        Those that were once held with a margin of 2, and rounded, are left alone.
        """
        if not self.are_matrices or dtype == np.float64:
            return covariance
        share = 4.0 * margin * covariance.shape[-1] * float(np.finfo(dtype).eps)
        return clipped(covariance, share * np.diagonal(covariance, axis1=1, axis2=2))

    def cholesky(self, covariances: Any) -> Any:
        """Return factors A of precisions A A^T: upper triangles, or square roots."""
        if not self.are_matrices:
            return 1.0 / np.sqrt(covariances)
        return np.swapaxes(whitening(covariances), -1, -2)

    def of_cholesky(self, factors: Any) -> Any:
        """Return the covariances of factors A of precisions A A^T."""
        if not self.are_matrices:
            return np.asarray(factors, dtype=np.float64) ** -2.0
        return self.inverted(factors @ np.swapaxes(factors, -1, -2))

    def roots(self, covariances: Any, C: int, D: int) -> Array:
        """Return R with R R^T = Sigma_c for every cluster, shape (C, D, D)."""
        if self.are_matrices:
            return np.broadcast_to(np.linalg.cholesky(covariances), (C, D, D))
        variances = np.asarray(covariances, dtype=np.float64)
        if variances.ndim == 1:
            variances = variances[:, None]
        return np.sqrt(np.broadcast_to(variances, (C, D)))[:, :, None] * np.eye(D)


def _isotropic(floor: Array, equal: bool, given: Given) -> Model:
    return Isotropic(float(np.mean(floor)), equal=equal, given=given)


COVARIANCES = {
    of.name: of
    for of in (
        Covariances("full", Full, lambda C, D: (C, D, D), inverted, are_matrices=True),
        Covariances("tied", Tied, lambda C, D: (D, D), inverted, are_matrices=True),
        Covariances("diag", Diagonal, lambda C, D: (C, D), np.reciprocal),
        Covariances("spherical", Spherical, lambda C, D: (C,), np.reciprocal),
        Covariances("isotropic", _isotropic, lambda C, D: (), np.reciprocal),
    )
}
