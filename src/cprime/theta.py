"""The parameters of a mixture, and what a kernel needs to know of them."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from cprime.typing import Array


def variances_of(covariance: Any) -> Array:
    """Return the variances in covariances of any model's shape."""
    values = np.asarray(covariance)
    return np.diagonal(values, axis1=1, axis2=2) if values.ndim == 3 else values


@dataclass(frozen=True)
class Theta:
    """The parameters a fit estimates.

    Attributes
    ----------
    means : ndarray of shape (C, D), float64
        The cluster centres mu_c.
    covariance : float or ndarray
        In the shape of the model: one sigma^2 for all clusters of `Isotropic`, shape
        (C,), (C, D), (C, D, D) or, for all clusters alike, (1, D, D) of others.
    proportions : ndarray of shape (C,), optional
        How likely each cluster is before a row is seen. By default all the same.
    """

    means: Array
    covariance: Any
    proportions: Array | None = None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters by their names."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return what is computed of these parameters, the first time it is asked for.

        They never change, and a copy with others starts anew.
        """
        known = vars(self)
        if name not in known:
            known[name] = compute()
        return known[name]

    def noted(self, name: str) -> Any:
        """Return what `once` has computed under this name, or None."""
        return vars(self).get(name)

    @property
    def has_equal_clusters(self) -> bool:
        """Whether the most likely cluster is the closest, for any sigma^2 (Prop. 2)."""
        return np.ndim(self.covariance) == 0 and self.proportions is None


@dataclass(frozen=True)
class Given:
    """Parameters a user wants a fit to start from; None is left to the model.

    Attributes
    ----------
    means : ndarray of shape (C, D), optional
    covariance : in the shape of the model, optional
    proportions : ndarray of shape (C,), optional
    """

    means: Array | None = None
    covariance: Any = None
    proportions: Array | None = None

    def over(self, theta: Theta) -> Theta:
        """Return theta with what is given in its place."""
        given = {name: v for name, v in vars(self).items() if v is not None}
        return replace(theta, **given)


NOTHING = Given()


@dataclass(frozen=True)
class Coefficients:
    """Numbers from which every kernel scores a row, whatever the model.

    log p(y, c | Theta) = bias_c - 1/2 || whitening (y - means_c) ||^2

    Attributes
    ----------
    bias : ndarray of shape (C,)
        log of the mixing proportion and of the Gaussian's normaliser.
    means : ndarray of shape (C, D)
    whitening : float or ndarray
        1 / sigma of all clusters; or for every cluster one such number, shape (C,), or
        one per feature, (C, D), or a lower triangle, (C, D, D); (1, D, D) is one
        triangle for all.
    """

    bias: Array
    means: Array
    whitening: Any

    @property
    def is_tied(self) -> bool:
        """Whether all of several clusters have one triangle."""
        return np.ndim(self.whitening) == 3 and len(self.whitening) < len(self.means)

    @property
    def sharpness(self) -> float:
        """How many nats a unit of a kernel's squared distance costs.

        With one variance for all clusters, kernels leave distances as they are;
        otherwise a distance is already that of whitened differences.
        """
        if isinstance(self.whitening, np.ndarray):
            return 0.5
        return 0.5 * float(self.whitening) * float(self.whitening)

    def penalty(self) -> Array:
        """Return what each cluster's squared distance is handicapped by in a ranking.

        A cluster with a smaller bias must be closer to win (Supplement C). With equal
        biases this is exactly zero, so the closest cluster wins for any sigma^2.
        """
        handicap: Array = self.bias.max() - self.bias
        return handicap / self.sharpness

    def log_joint(self, distances: Array, K: Array) -> tuple[Array, Array]:
        """Return log p(y, c) of clusters K at a kernel's squared distances.

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
        sharpness = self.sharpness
        with np.errstate(over="ignore"):
            highest: Array = self.bias.max() - sharpness * best
            relative: Array = sharpness * (best - scores)
        return highest, relative
