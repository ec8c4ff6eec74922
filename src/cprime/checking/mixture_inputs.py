"""Parameters of a mixture that a user gives, and what may be wrong with them."""

from typing import Any

import numpy as np

from cprime.checking import tables
from cprime.checking.covariances import Covariances
from cprime.theta import variances_of
from cprime.typing import Array


def checked_weights(weights: Any, C: int) -> Array:
    """Return mixing proportions, or say what is wrong with them."""
    values = _of_shape(weights, (C,), "weights")
    if np.any(values < 0.0) or np.any(values > 1.0):
        raise ValueError(
            "The parameter 'weights' should be in the range [0, 1], but got "
            f"max value {values.max():.5f}, min value {values.min():.5f}"
        )
    if abs(1.0 - values.sum()) > 1e-8 + 1e-5 * values.sum():
        raise ValueError(
            "The parameter 'weights' should be normalized, but got sum(weights) = "
            f"{values.sum():.5f}"
        )
    return values


def checked_means(means: Any, C: int, D: int) -> Array:
    """Return means, or say what is wrong with them."""
    return _of_shape(means, (C, D), "means")


def checked_precisions(precisions: Any, of: Covariances, C: int, D: int) -> Array:
    """Return precisions, or say what is wrong with them."""
    name = f"{of.name} precision"
    values = _of_shape(precisions, of.shape(C, D), name)
    if not of.are_matrices:
        if np.any(values <= 0.0):
            raise ValueError(f"'{name}' should be positive")
        return values
    symmetric = np.allclose(values, np.swapaxes(values, -1, -2))
    if not symmetric or np.any(np.linalg.eigvalsh(values) <= 0.0):
        raise ValueError(f"'{name}' should be symmetric, positive-definite")
    return values


def covariances_of(precisions: Array, of: Covariances) -> Any:
    """Return inverses of precisions, as the model has them, or say there are none."""
    wrong = f"precisions_init is not valid: '{of.name}' precisions that are "
    with np.errstate(over="ignore"):
        try:
            found = of.kept(of.inverted(precisions))
        except np.linalg.LinAlgError as error:
            raise ValueError(wrong + "so nearly singular have no inverse.") from error
    if not np.isfinite(found).all() or not np.all(variances_of(found) > 0.0):
        raise ValueError(wrong + "so large or so small have no inverse in float64.")
    return found


def _of_shape(given: Any, shape: tuple[int, ...], name: str) -> Array:
    values = tables.numbers(given, name)
    if values.shape != shape:
        raise ValueError(
            f"The parameter '{name}' should have the shape of {shape}, but got "
            f"{values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"The parameter '{name}' holds NaN or infinity.")
    return values
