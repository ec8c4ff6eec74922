"""Which parameters do clusters have, be they from a fit or set by hand?"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from cprime.checking import inputs
from cprime.kernels.tensors import from_gpu
from cprime.typing import Array


class UnlessFitted:
    """An attribute that a fit sets, and that otherwise follows from others.

    It can be read only, so that what lies in an instance hides it.
    """

    def __init__(self, derived: Callable[[Any], Any]):
        self._derived = derived

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        return self if estimator is None else self._derived(estimator)


def floats(values: Any) -> Array:
    """Return parameters as an array of float32, if they are that, or float64."""
    array = np.asarray(from_gpu(values))
    return array if array.dtype == np.float32 else array.astype(np.float64)


def squared_size(centers: Array) -> float:
    """Return how large squares of centres are, for clusters of unknown variance."""
    largest = float(np.abs(centers).max(initial=0.0))
    return min(max(largest, 1e-150), 1e150) ** 2 if largest > 0.0 else 1.0


def kept(estimator: Any) -> int:
    """Return how many clusters a row keeps, by the parameter `c_prime`."""
    C = len(estimator._clusters()[1].means)
    if estimator.c_prime is None:
        return C
    return inputs.checked_c_prime(estimator.c_prime, C, estimator._count_name)


def free(estimator: Any) -> int:
    """Return how many numbers a fit of such clusters is free to choose."""
    model, theta = estimator._mixture()
    n_free: int = model.n_parameters(*theta.means.shape)
    return n_free


def missing(estimator: Any, name: str, gives: str, remedy: str) -> NotFittedError:
    """Return an error that says which parameter is not there, and what to do.

    Parameters
    ----------
    estimator : estimator
    name : str
        Of the parameter.
    gives : str
        What there is not without it.
    remedy : str
        What to set.
    """
    return NotFittedError(
        f"This {type(estimator).__name__} has no {name}, which is needed for "
        f"{gives}: fit it, or set {remedy}."
    )
