"""Which shapes may clusters have, and how does one of them become another?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.models import Diagonal, Full, Isotropic, Model, Spherical, Tied
from cprime.theta import Theta
from cprime.typing import Array


@dataclass(frozen=True)
class Mixture:
    """A mixture whatever its shape.

    Attributes
    ----------
    proportions : ndarray of shape (C,)
    means : ndarray of shape (C, D)
    matrices : ndarray of shape (C, D, D)
        Covariances.
    """

    proportions: Array
    means: Array
    matrices: Array

    @classmethod
    def of(cls, theta: Theta) -> "Mixture":
        C, D = theta.means.shape
        covariance = np.asarray(theta.covariance, dtype=np.float64)
        if covariance.ndim < 3:
            along = covariance if covariance.ndim == 2 else covariance.reshape(-1, 1)
            covariance = np.broadcast_to(along, (C, D))[:, :, None] * np.eye(D)
        proportions = theta.proportions
        if proportions is None:
            proportions = np.full(C, 1.0 / C)
        return cls(proportions, theta.means, np.broadcast_to(covariance, (C, D, D)))


@dataclass(frozen=True)
class Shape:
    """One shape of clusters.

    Attributes
    ----------
    covariance_type : str
        As `GaussianMixture` calls it.
    model : callable
        Smallest variance of every feature -> Model.
    covariance : callable
        Matrices (C, D, D) and proportions (C,) -> nearest covariances of this shape.
    shared : bool, default=False
        Whether all clusters have the same covariance.
    equal : bool, default=False
        Whether all clusters are equally likely.
    """

    covariance_type: str
    model: Callable[[Array], Model]
    covariance: Callable[[Array, Array], Any]
    shared: bool = False
    equal: bool = False

    def theta(self, mixture: Mixture) -> Theta:
        """Return parameters of this shape next to those of a mixture."""
        covariance = self.covariance(mixture.matrices, mixture.proportions)
        proportions = None if self.equal else mixture.proportions
        return Theta(mixture.means, covariance, proportions)


def with_split(theta: Theta, c: int, two: Theta) -> Theta:
    """Return clusters of which number c has become two; the second is the last."""
    means = np.vstack([theta.means, two.means[1]])
    means[c] = two.means[0]
    proportions, covariance = theta.proportions, theta.covariance
    if proportions is not None:
        assert two.proportions is not None
        proportions = np.append(proportions, proportions[c] * two.proportions[1])
        proportions[c] *= two.proportions[0]
    if _has_its_own(theta) and _has_its_own(two):
        covariance = np.concatenate([covariance, two.covariance[1:]])
        covariance[c] = two.covariance[0]
    return Theta(means, covariance, proportions)


def without(theta: Theta, c: int) -> Theta:
    """Return all clusters but number c."""
    proportions, covariance = theta.proportions, theta.covariance
    if proportions is not None:
        proportions = np.delete(proportions, c)
        proportions = proportions / proportions.sum()
    if _has_its_own(theta) and len(theta.means) > 1:
        covariance = np.delete(covariance, c, axis=0)
    return Theta(np.delete(theta.means, c, axis=0), covariance, proportions)


def of_features(theta: Theta, wanted: Array) -> Theta:
    """Return clusters in some of their features, wanted is of shape (D,), bool.

    Of covariances along the axes, or matrices.
    """
    covariance = theta.covariance[:, wanted]
    if covariance.ndim == 3:
        covariance = covariance[:, :, wanted]
    return Theta(theta.means[:, wanted], covariance, theta.proportions)


def merged(mixture: Mixture, groups: Array) -> Mixture:
    """Return every group of clusters as one, with their mean and covariance."""
    shares = np.bincount(groups, mixture.proportions)
    within = mixture.proportions / shares[groups]
    C, D = len(shares), mixture.means.shape[1]
    means, matrices = np.zeros((C, D)), np.zeros((C, D, D))
    np.add.at(means, groups, within[:, None] * mixture.means)
    steps = mixture.means - means[groups]
    about = mixture.matrices + steps[:, :, None] * steps[:, None, :]
    np.add.at(matrices, groups, within[:, None, None] * about)
    return Mixture(shares, means, matrices)


def discount(theta: Theta, weight: float) -> float:
    """Return the sum over clusters of log(W / W_c), once for every correlation."""
    D = theta.means.shape[1]
    is_full = np.ndim(theta.covariance) == 3 and _has_its_own(theta)
    if theta.proportions is None or not is_full:
        return 0.0
    shares = np.maximum(theta.proportions, 1.0 / weight)
    return float(-(D * (D - 1) // 2) * np.sum(np.log(shares)))


def _has_its_own(theta: Theta) -> bool:
    """Return whether every cluster has a covariance of its own.

    That one matrix for all has the shape of one cluster's does no harm: it is of one.
    """
    return np.ndim(theta.covariance) > 0 and len(theta.covariance) == len(theta.means)


def _mean_matrix(matrices: Array, proportions: Array) -> Array:
    mean: Array = np.einsum("c,cij->ij", proportions, matrices)[None]
    return mean


def _mean_variances(matrices: Array, proportions: Array) -> Array:
    means: Array = np.trace(matrices, axis1=-2, axis2=-1) / matrices.shape[-1]
    return means


def _mean_variance(matrices: Array, proportions: Array) -> float:
    return float(proportions @ _mean_variances(matrices, proportions))


def _variances(matrices: Array, proportions: Array) -> Array:
    return np.diagonal(matrices, axis1=1, axis2=2).copy()


def _equal_balls(floor: Array) -> Model:
    return Isotropic(float(np.mean(floor)))


def _balls(floor: Array) -> Model:
    return Isotropic(float(np.mean(floor)), equal=False)


# From the simplest to the richest.
SHAPES = {
    "k-means": Shape("isotropic", _equal_balls, _mean_variance, True, True),
    "isotropic": Shape("isotropic", _balls, _mean_variance, True),
    "spherical": Shape("spherical", Spherical, _mean_variances),
    "diag": Shape("diag", Diagonal, _variances),
    "tied": Shape("tied", Tied, _mean_matrix, True),
    "full": Shape("full", Full, lambda matrices, proportions: np.array(matrices)),
}
