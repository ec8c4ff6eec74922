"""Supplement C: which cluster wins depends on all covariances and proportions."""

import numpy as np
import pytest
from every_kernel import KERNELS

from cprime.kernels import get_kernel
from cprime.models import Spherical
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.theta import Theta

ROW = np.array([[1.0]])
MEANS = np.array([[0.0], [3.0]])


def label(variances, proportions=None, kernel="reference"):
    model = Spherical()
    theta = Theta(MEANS, np.array(variances), proportions)
    swept_by = get_kernel(kernel)
    K, _ = Problem(MemoryRows(ROW), model, Exact(), swept_by, 1).sweep(theta, None)
    return int(K.K[0, 0])


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_closest_mean_can_lose(kernel):
    assert label([1.0, 1.0], kernel=kernel) == 0
    # A narrow cluster explains the row worse than a wide one farther away.
    assert label([0.01, 4.0], kernel=kernel) == 1
    # So does one that is rare.
    assert label([1.0, 1.0], np.array([1e-4, 1 - 1e-4]), kernel) == 1
