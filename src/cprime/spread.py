"""How far do the rows spread, before any clusters are known?"""

import numpy as np

from cprime.blas import one_thread
from cprime.blocks import few_here
from cprime.kernels import Kernel, native, surveys
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import Rows
from cprime.search import Exact
from cprime.theta import Coefficients, Theta
from cprime.typing import Array


def one_cluster(rows: Rows, kernel: Kernel) -> Theta:
    """Return the mean of all rows and their variance averaged over features.

    It is EM with one cluster: the first sweep finds the mean, the second, standing on
    it, a variance in which nothing cancels.
    """
    if kernel is native and rows.block is not None:
        mean, variance = surveys.one_cluster(rows.block)
        return Theta(mean[None], variance)

    def heaviest(values: Array, weights: Array) -> tuple[Array, Array]:
        row = [np.argmax(weights)]
        return weights[row], few_here(values[row]).astype(np.float64)

    weights, candidates = rows.of_parts(heaviest)
    problem = Problem(rows, Isotropic(), Exact(), kernel, C_prime=1)
    means = candidates[[np.argmax(weights)]]
    _, stats = problem.sweep(Theta(means, 1.0), None)
    means = means + stats.shifts / stats.weight
    _, stats = problem.sweep(Theta(means, 1.0), None)
    return Theta(means, stats.scatter / (rows.n_features * stats.weight))


@one_thread()
def observed_moments(rows: Rows) -> tuple[Array, Array]:
    """Return mean and variance of every feature over the rows that have it.

    Some weighted row has to. Values are added up as differences to the smallest one, so
    that a feature which is the same in all rows has no variance at all.
    """

    def lowest(values: Array, weights: Array) -> Array:
        weighted = (weights > 0)[:, None]
        found: Array = np.fmin.reduce(values, axis=0, initial=np.inf, where=weighted)
        return found[None].astype(np.float64)

    def mean_about(origin: Array, power: int) -> Array:
        """Return the mean of (y - origin)^power of every feature."""

        def sums(values: Array, weights: Array) -> Array:
            observed = ~np.isnan(values) & (weights > 0)[:, None]
            powers = np.where(observed, values - origin, 0.0) ** power
            return np.stack([weights @ powers, weights @ observed])

        total, weight = rows.reduce(sums)
        found: Array = total / weight
        return found

    origin = rows.of_parts(lowest).min(axis=0)
    means = origin + mean_about(origin, 1)
    return means, mean_about(means, 2)


@one_thread()
def feature_moments(rows: Rows, kernel: Kernel) -> tuple[Array, Array]:
    """Return mean and variance of every feature over all rows."""
    mean = one_cluster(rows, kernel).means[0]
    if rows.resident is not None:
        along_axes = Coefficients(np.zeros(1), mean[None], np.ones((1, len(mean))))
        _, stats = rows.sweep(kernel, None, along_axes, Exact().plan(), 1)
        return mean, stats.scatter[0] / stats.weight

    def squares(values: Array, weights: Array) -> Array:
        found: Array = weights @ (values - mean) ** 2
        return found

    variances: Array = rows.reduce(squares) / rows.weight
    return mean, variances
