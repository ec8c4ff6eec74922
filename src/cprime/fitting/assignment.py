"""Where does a fit start if the cluster of every row is known?"""

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
    # About one mean, and with nothing to look at: rows keep what they have.
    about = Theta(one_cluster(rows, kernel).means.repeat(C, axis=0), 1.0)
    nothing = Neighbours(0, lists=np.empty((C, 0), dtype=np.int32))
    stats = Problem(rows, Isotropic(), nothing, kernel, C_prime=1).sums(about, K)
    return Seeds(maximized_means(stats, about), stats.evaluations, K)
