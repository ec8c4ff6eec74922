"""Mixtures whose rows lack some of their values."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from mixtures import FLOOR
from problems import cases, generator
from scipy.stats import norm

from cprime.kernels.missing import Marginal
from cprime.models import Diagonal, Isotropic, Spherical
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.theta import Theta

MODELS = {"isotropic": Isotropic, "spherical": Spherical, "diag": Diagonal}


@dataclass(frozen=True)
class Incomplete:
    """Weighted rows with NaN, a model with parameters, and a C'."""

    rows: MemoryRows
    name: str
    model: object
    theta: Theta
    C_prime: int

    @property
    def X(self):
        return self.rows.X.astype(np.float64)

    @property
    def weights(self):
        return self.rows.weights

    @property
    def C(self):
        return len(self.theta.means)

    def problem(self, C_prime=None):
        return Problem(
            self.rows, self.model, Exact(), Marginal(), C_prime or self.C_prime
        )


def per_feature(covariance, C, D):
    """Return variances of any shape as those of clusters and features, (C, D)."""
    covariance = np.asarray(covariance, dtype=np.float64)
    return np.broadcast_to(
        covariance[:, None] if covariance.ndim == 1 else covariance, (C, D)
    )


def log_joints(X, theta):
    """Return log p(observed values, c | theta), shape (N, C), by scipy's densities."""
    C, D = theta.means.shape
    sigma = np.sqrt(per_feature(theta.covariance, C, D))
    proportions = np.full(C, 1 / C) if theta.proportions is None else theta.proportions
    densities = norm.logpdf(X[:, None, :], theta.means, sigma)
    log_shares = np.log(np.maximum(proportions, 1e-300))
    return log_shares + np.where(np.isnan(densities), 0.0, densities).sum(2)


@st.composite
def holes(draw, shape, spared_rows=0):
    """Draw which values are missing: some, many, and now and then whole rows."""
    rng = generator(draw)
    missing = rng.uniform(size=shape) < draw(st.sampled_from([0.1, 0.3, 0.7]))
    if draw(st.booleans()):
        missing[rng.integers(shape[0])] = True
    missing[:spared_rows] = False
    return missing


@st.composite
def incompletes(draw, names=tuple(MODELS), equal=None, spared_rows=0, **of_case):
    """Draw a mixture as `mixtures` does, and values of its rows that are missing.

    The first `spared_rows` are complete.
    """
    case = draw(cases(**of_case))
    name = draw(st.sampled_from(names))
    rng = generator(draw)
    C, D = case.C, case.D
    scale = float(case.X.var(axis=0).mean()) or 1.0
    held = draw(st.booleans()) if equal is None else equal
    floor = FLOOR * scale if name == "isotropic" else np.full(D, FLOOR * scale)
    model = MODELS[name](floor=floor, equal=held)
    shape = np.shape(model.unit_theta(case.means).covariance)
    covariance = scale * np.exp(rng.uniform(-1, 1, size=shape))
    proportions = None if held else rng.dirichlet(np.full(C, 3.0))
    theta = Theta(case.means, covariance if shape else float(covariance), proportions)
    X = case.rows.X.copy()
    X[draw(holes(X.shape, spared_rows))] = np.nan
    return Incomplete(
        MemoryRows(X, case.weights), name, model, theta, draw(st.integers(1, C))
    )
