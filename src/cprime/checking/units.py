"""Between the units of a user's data and those a fit is computed in.

The two differ by exact powers of two, and only for data or weights so large or so small
that their squares would leave float64.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from cprime.blocks import n_missing
from cprime.checking import inputs
from cprime.rows import Rows, is_dask_data, rows_of
from cprime.theta import variances_of
from cprime.typing import Array

# Magnitudes between 2**-400 and 2**400 are left alone: their squares, summed over any
# number of rows, stay inside float64. Others are brought to the edge of that window.
LARGEST_EXPONENT = 400
# A row this far outside the window of its model has squares that overflow.
FARTHEST_EXPONENT = 440
# Weights multiply squares, so their window is smaller.
LARGEST_WEIGHT_EXPONENT = 100
LARGEST = sys.float_info.max


@cache
def largest_number(dtype: Any) -> float:
    """Return the largest number a dtype holds; numpy takes a while to tell."""
    return float(np.finfo(dtype).max)


@dataclass(frozen=True)
class Units:
    """Rows are multiplied by `scale`, weights by `weight_scale`."""

    scale: float
    weight_scale: float
    extreme: str = ""

    @classmethod
    def of(cls, largest: float, largest_weight: float, extreme: str = "") -> "Units":
        """Return the units that suit values and weights up to these.

        `extreme` tells a user where the largest value is, should it be a problem.
        """
        return cls(
            _scale(largest, LARGEST_EXPONENT),
            _scale(largest_weight, LARGEST_WEIGHT_EXPONENT),
            extreme,
        )

    @classmethod
    def of_rows(cls, X: Any, weights: Array) -> "Units":
        """Return the units that suit these rows.

        Rows of zero weight have no say: they are left out if they would change it.
        """
        largest, extreme = inputs.magnitude(X), ""
        if _scale(largest, LARGEST_EXPONENT) != 1.0:
            if not weights.all():
                largest = _largest_weighted(X, weights)
            row, column, value, _ = inputs.first(X, lambda x: np.abs(x) == largest)
            extreme = f"; the largest is {value:.3g} at row {row}, column {column}"
        return cls.of(largest, float(weights.max()), extreme)

    def rows(self, X: Any, weights: Array) -> Rows:
        """Return the rows in computing units, or say which one does not fit in."""
        # No finite float32 is too large, as a rule: nothing to look for.
        if largest_number(X.dtype) > self._limit:
            if is_lazy(X):
                X.checks.append(_far_check(self._limit))
            else:
                self.refuse_far(X, "X")
        if self.weight_scale != 1.0:
            weights = weights * self.weight_scale
        return rows_of(X, weights, self.scale)

    def refuse_far(self, X: Any, what: str) -> None:
        """Raise if squares of these values overflow in computing units."""
        limit = self._limit
        if inputs.magnitude(X) <= limit:
            return
        row, column, value, _ = inputs.first(X, lambda values: np.abs(values) > limit)
        _refuse_far(f"{what} holds {value:.3g} at row {row}, column {column}.", limit)

    @property
    def _limit(self) -> float:
        return math.ldexp(1.0, FARTHEST_EXPONENT) / self.scale

    def means_in(self, means: Array) -> Array:
        return np.asarray(means, dtype=np.float64) * self.scale

    def means_out(self, means: Array) -> Array:
        return means / self.scale

    def variance_in(self, variance: float, name: str = "variance_") -> float:
        scaled = variance * self.scale * self.scale
        # Its inverse must be a number too, with room for the 2 pi of a density.
        if not 8.0 / sys.float_info.max < scaled < sys.float_info.max / 8.0:
            raise ValueError(
                f"{name}={variance!r} is out of proportion: float64 cannot hold these "
                f"data divided by it{self.extreme}. Give a variance nearer to theirs."
            )
        return scaled

    def covariance_in(self, covariance: Any) -> Any:
        """Return variances or covariances of a fitted mixture in computing units."""
        if isinstance(covariance, np.ndarray):
            return covariance.astype(np.float64) * self.scale * self.scale
        return self.variance_in(covariance)

    def covariance_out(self, covariance: Any, dtype: Any) -> Any:
        """Return variances or covariances in a user's units and precision."""
        with np.errstate(over="ignore"):
            values = np.asarray(covariance / self.scale / self.scale)
        variances = variances_of(values)
        # Inverses must be numbers too.
        largest = largest_number(dtype) / 8.0
        if not (np.all(variances > 1.0 / largest) and np.all(variances < largest)):
            small = bool(np.all(variances < largest))
            raise ValueError(
                f"covariances_ are too {'small' if small else 'large'} for {dtype}: "
                f"squares of these data cannot be held{self.extreme}. Rescale X first"
                + (", or give it as float64." if dtype != np.float64 else ".")
            )
        return values.astype(dtype)[()]

    def variance_out(self, variance: float) -> float:
        return self._held(variance / self.scale / self.scale, variance, "variance_")

    def objective_out(self, objective: float, name: str = "inertia_") -> float:
        """Return a weighted sum of squares that float64 can hold."""
        return self._held(self.sum_out(objective), objective, name)

    def sum_out(self, objective: float) -> float:
        """Return a weighted sum of squares, even if it comes out infinite or zero."""
        return objective / self.scale / self.scale / self.weight_scale

    def log_densities_out(self, values: Array, rows: Rows) -> Array:
        """Return the log density of every row, per volume in a user's units."""
        if self.scale == 1.0:
            return values
        dimensions = rows.n_features - rows.map(_n_missing)
        return values + dimensions * math.log(self.scale)

    def log_density_out(self, value: Any, rows: Rows) -> Any:
        """Return a mean log density of these rows, such as F, in a user's units."""
        if self.scale == 1.0:
            return value
        dimensions = rows.n_features - rows.mean(_n_missing)
        return value + dimensions * math.log(self.scale)

    def _held(self, value: float, computed: float, name: str) -> float:
        size, smallest = abs(value), sys.float_info.min
        # What was next to nothing in any units, such as what a row all but on its
        # centre pays, may become nothing.
        if smallest <= size <= LARGEST or abs(computed) < smallest:
            return value
        what, factor = "X", self.scale
        if self.weight_scale != 1.0 and name != "variance_":
            what, factor = "sample_weight", self.weight_scale
        raise ValueError(
            f"{name} is too {'large' if size > 1.0 else 'small'} for float64: squares "
            f"of these data cannot be held{self.extreme}. Rescale {what} first, for "
            f"instance multiply it by {factor:.3g}."
        )


def _refuse_far(found: str, limit: float) -> None:
    raise ValueError(
        f"{found} That is so much larger than the rest (limit {limit:.3g}) that "
        "squared distances cannot be told apart in float64: remove it, or rescale or "
        "clip the column."
    )


def _far_check(limit: float) -> Callable[[Array, Callable[[int], str]], None]:
    """Return what raises if rows, wherever they are, hold values beyond a limit."""

    def check(values: Array, place_of: Callable[[int], str]) -> None:
        if inputs.magnitude(values) > limit:
            row, column, value, _ = inputs.first(values, lambda x: np.abs(x) > limit)
            place = f"{place_of(row)}, column {column}"
            _refuse_far(f"X holds {value:.3g} at {place}.", limit)

    return check


def _n_missing(values: Array, weights: Array) -> Array:
    return n_missing(values)


def is_lazy(X: Any) -> bool:
    """Return whether rows are looked at only when results of them are asked for."""
    return is_dask_data(X) and not X.is_open


def _largest_weighted(X: Any, weights: Any) -> float:
    """Return the largest absolute value of the rows that have weight."""

    def of_part(values: Array, weights: Array) -> Array:
        return np.atleast_1d(inputs.magnitude(values[weights > 0]))

    return float(rows_of(X, weights).of_parts(of_part).max())


def _scale(largest: float, window: int) -> float:
    """Return the power of two that brings `largest` into the window; mostly 1."""
    if largest == 0.0:
        return 1.0
    exponent = math.frexp(largest)[1]
    return math.ldexp(1.0, min(max(exponent, -window), window) - exponent)
