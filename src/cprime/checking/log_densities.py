"""Is a row so far away that its log density has left float64?"""

import math

import numpy as np

from cprime.typing import Array


def refuse_infinite(log_densities: Array, first: int) -> None:
    """Raise if a log density, of rows from the `first` on, has left float64."""
    if np.isfinite(log_densities).all():
        return
    row = first + int(np.argmin(np.isfinite(log_densities)))
    raise ValueError(
        f"The log density of row {row} is below what float64 can hold: the row is too "
        "many standard deviations away from every cluster."
    )


def finite_mean(value: float) -> float:
    """Return a mean log density, unless it left float64."""
    if not math.isfinite(value):
        raise ValueError(
            "Some row is too many standard deviations away from every cluster for its "
            "log density to be held in float64; score_samples(X) says which."
        )
    return value
