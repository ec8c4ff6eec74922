"""How far do the rows spread, before any clusters are known?"""

import numpy as np

from cprime.kernels import Kernel
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import Rows
from cprime.search import Exact
from cprime.theta import Theta
from cprime.typing import Array


def one_cluster(rows: Rows, kernel: Kernel) -> Theta:
    """Return the mean of all rows and their variance averaged over features.

    It is EM with one cluster: the first sweep finds the mean, the second, standing on
    it, a variance in which nothing cancels.
    """
    heaviest = np.argmax(rows.map(lambda values, weights: weights))
    problem = Problem(rows, Isotropic(), Exact(), kernel, C_prime=1)
    means = rows.take(np.array([heaviest]))
    _, stats = problem.sweep(Theta(means, 1.0), None)
    means = means + stats.shifts / stats.weight
    _, stats = problem.sweep(Theta(means, 1.0), None)
    return Theta(means, stats.scatter / (rows.n_features * stats.weight))


def feature_variances(rows: Rows, kernel: Kernel) -> Array:
    """Return the variance of every feature over all rows, shape (D,)."""
    mean = one_cluster(rows, kernel).means[0]

    def squares(values: Array, weights: Array) -> Array:
        found: Array = weights @ (values - mean) ** 2
        return found

    def weight(values: Array, weights: Array) -> Array:
        return np.atleast_1d(weights.sum())

    variances: Array = rows.reduce(squares) / rows.reduce(weight)
    return variances
