"""The parameters of a mixture, and what a kernel needs to know of them."""

from dataclasses import dataclass

import numpy as np

from cprime.typing import Array


@dataclass(frozen=True)
class Theta:
    """The parameters a fit estimates.

    Attributes
    ----------
    means : ndarray of shape (C, D), float64
        The cluster centres mu_c.
    covariance : float
        In the shape of the model: one sigma^2 for all clusters of `Isotropic`.
    """

    means: Array
    covariance: float


@dataclass(frozen=True)
class Coefficients:
    """Numbers from which every kernel scores a row, whatever the model.

    log p(y, c | Theta) = bias_c - 1/2 || whitening (y - means_c) ||^2

    Attributes
    ----------
    bias : ndarray of shape (C,)
        log of the mixing proportion and of the Gaussian's normaliser.
    means : ndarray of shape (C, D)
    whitening : float
        1 / sigma.
    """

    bias: Array
    means: Array
    whitening: float

    def penalty(self) -> Array:
        """Return what each cluster's squared distance is handicapped by in a ranking.

        A cluster with a smaller bias must be closer to win (Supplement C). With equal
        biases this is exactly zero, so the closest cluster wins for any sigma^2.
        """
        handicap: Array = 2.0 * (self.bias.max() - self.bias)
        return handicap / self.whitening / self.whitening

    def log_joint(self, distances: Array, K: Array) -> tuple[Array, Array]:
        """Return log p(y, c) of clusters K at squared distances ||y - mu_c||^2.

        In two parts, because a row may be so far away that all its log-joints are
        beyond float64 while the differences between them, its posterior, are not.

        Returns
        -------
        highest : ndarray of shape (B, 1)
            Of the row's best cluster.
        relative : ndarray of shape (B, C')
            What every cluster has more than that; never positive.
        """
        scores = distances + self.penalty()[K]
        best = scores.min(axis=1, keepdims=True)
        sharpness = 0.5 * self.whitening * self.whitening
        with np.errstate(over="ignore"):
            highest: Array = self.bias.max() - sharpness * best
            relative: Array = sharpness * (best - scores)
        return highest, relative
