"""A richer covariance type is the poorer one where its freedom is not needed."""

import numpy as np
from hypothesis import given
from mixtures import matrices, mixtures

from cprime.kernels import reference
from cprime.models import Diagonal, Full, Isotropic, Spherical
from cprime.problem import Problem
from cprime.search import Exact
from cprime.theta import Theta


def swept(mixture, model, covariance, C_prime=None):
    theta = Theta(mixture.theta.means, covariance, mixture.theta.proportions)
    kernel = mixture.problem().kernel if C_prime is None else mixture.case.kernel
    problem = Problem(mixture.case.rows, model, Exact(), kernel, mixture.case.C_prime)
    return problem.sweep(theta, None)[1]


def assert_same(one, other):
    for name in ("counts", "shifts", "entropy", "free_energy", "weight"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-8, atol=1e-8
        )


@given(mixture=mixtures(["spherical"], gridded=False))
def test_equal_spheres_are_isotropic(mixture):
    variance = float(mixture.theta.covariance[0])
    C = mixture.case.C
    spheres = swept(mixture, Spherical(), np.full(C, variance))
    isotropic = Isotropic(equal=mixture.theta.proportions is None)
    one = swept(mixture, isotropic, variance, C_prime=mixture.case.C_prime)
    assert_same(spheres, one)
    assert np.isclose(spheres.scatter.sum(), one.scatter, rtol=1e-8)


@given(mixture=mixtures(["diag"], gridded=False))
def test_diagonal_matrices_are_diagonal(mixture):
    C, D = mixture.case.C, mixture.case.D
    diagonal = swept(mixture, Diagonal(), mixture.theta.covariance)
    full = matrices(mixture.theta.covariance, C, D).copy()
    theta = Theta(mixture.theta.means, full, mixture.theta.proportions)
    problem = Problem(
        mixture.case.rows,
        Full(),
        Exact(),
        reference,
        mixture.case.C_prime,
    )
    matrix = problem.sweep(theta, None)[1]
    assert_same(diagonal, matrix)
    np.testing.assert_allclose(
        np.diagonal(matrix.scatter, axis1=1, axis2=2),
        diagonal.scatter,
        rtol=1e-8,
        atol=1e-8,
    )
