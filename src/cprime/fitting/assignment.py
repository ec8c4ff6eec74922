"""Where does a fit start if the cluster of every row is known?"""

from dataclasses import replace
from typing import Any

import numpy as np

from cprime.checking.assignments import checked_assignment
from cprime.kernels import Kernel
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import Rows
from cprime.search import Neighbours
from cprime.seeding import Seeds
from cprime.spread import one_cluster
from cprime.stats import maximized_means
from cprime.theta import Theta

# How seeds are found, as a user is told.
GIVEN_ASSIGNMENT = "given assignment"


def seeds_of_assignment(
    given: Any, C: int, rows: Rows, kernel: Kernel, parameter: str
) -> Seeds:
    """Return the mean of every cluster's rows, and which cluster each row is in.

    Parameters
    ----------
    given : array-like of shape (N,)
        As a user gave it, as `parameter`.
    C : int
    rows : Rows
    kernel : Kernel
    parameter : str
    """
    labels = checked_assignment(given, C, rows, parameter)
    K = rows.assigned(lambda of_slice: of_slice, labels)
    about = Theta(one_cluster(rows, kernel).means.repeat(C, axis=0), 1.0)
    problem = Problem(rows, Isotropic(), _keeping(C), kernel, C_prime=1)
    stats = problem.sums(about, K)
    return Seeds(maximized_means(stats, about), stats.evaluations, K)


def theta_of_assignment(problem: Problem, seeds: Seeds) -> Theta:
    """Return the M-step of the rows that such seeds are the means of."""
    hard = replace(problem, search=_keeping(len(seeds.means)), C_prime=1)
    about = problem.model.unit_theta(seeds.means)
    return problem.model.maximize(hard.sums(about, seeds.K), about)


def _keeping(C: int) -> Neighbours:
    """Return the search in which rows look at nothing, and keep what they have."""
    return Neighbours(0, lists=np.empty((C, 0), dtype=np.int32))
