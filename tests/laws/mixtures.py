"""Mixtures of every covariance type, for laws that hold for all of them."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from problems import Case, cases, generator

from cprime.kernels import get_kernel
from cprime.models import Diagonal, Full, Spherical, Tied
from cprime.problem import Problem
from cprime.search import Exact
from cprime.theta import Theta

MODELS = {"spherical": Spherical, "diag": Diagonal, "tied": Tied, "full": Full}
# Far below the variance of rows drawn here, far above rounding.
FLOOR = 1e-6


@dataclass(frozen=True)
class Mixture:
    """Weighted rows, a model with parameters, and a C'."""

    case: Case
    name: str
    model: object
    theta: Theta

    def problem(self, C_prime=None):
        """Return it as a problem, swept by the case's kernel."""
        kernel = get_kernel(self.case.kernel_name)
        return Problem(
            self.case.rows, self.model, Exact(), kernel, C_prime or self.case.C_prime
        )

    @property
    def covariances(self):
        """The covariance matrix of every cluster, shape (C, D, D)."""
        return matrices(self.theta.covariance, self.case.C, self.case.D)


def matrices(covariance, C, D):
    """Return covariances of any shape as matrices, shape (C, D, D)."""
    if covariance.ndim == 3:
        return np.broadcast_to(covariance, (C, D, D))
    variances = covariance[:, None] if covariance.ndim == 1 else covariance
    return np.broadcast_to(variances, (C, D))[:, :, None] * np.eye(D)


def log_joints(X, theta):
    """Return log p(y, c | theta), shape (N, C), from the definition of a Gaussian."""
    C, D = theta.means.shape
    found = np.empty((len(X), C))
    proportions = np.full(C, 1 / C) if theta.proportions is None else theta.proportions
    for c, sigma in enumerate(matrices(theta.covariance, C, D)):
        difference = X - theta.means[c]
        energy = np.sum(difference * np.linalg.solve(sigma, difference.T).T, axis=1)
        log_determinant = np.linalg.slogdet(2 * np.pi * sigma)[1]
        share = max(proportions[c], 1e-300)
        found[:, c] = np.log(share) - 0.5 * (log_determinant + energy)
    return found


@st.composite
def mixtures(draw, names=tuple(MODELS), equal=None, **of_case):
    """Draw a mixture whose covariances are moderate beside the spread of its rows."""
    case = draw(cases(**of_case))
    name = draw(st.sampled_from(names))
    rng = generator(draw)
    C, D = case.C, case.D
    scale = float(case.X.var(axis=0).mean()) or 1.0
    held = draw(st.booleans()) if equal is None else equal
    model = MODELS[name](floor=np.full(D, FLOOR * scale), equal=held)
    shape = model.unit(C, D).shape
    if len(shape) == 3:
        roots = rng.normal(size=shape) + 2 * np.eye(D)
        covariance = scale * roots @ np.swapaxes(roots, 1, 2) / 4
    else:
        covariance = scale * np.exp(rng.uniform(-1, 1, size=shape))
    proportions = None if held else rng.dirichlet(np.full(C, 3.0))
    return Mixture(case, name, model, Theta(case.means, covariance, proportions))
