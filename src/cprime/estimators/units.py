"""Between the units of a person's data and those a fit is computed in.

The two differ by exact powers of two, and only for data or weights so large or so small
that their squares would leave float64.
"""

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.estimators import inputs
from cprime.rows import MemoryRows
from cprime.typing import Array


@dataclass(frozen=True)
class Units:
    """Rows are multiplied by `scale`, weights by `weight_scale`."""

    scale: float
    weight_scale: float

    @classmethod
    def of(cls, largest: float, largest_weight: float) -> "Units":
        """Return the units that suit values and weights up to these."""
        return cls(
            inputs.scale_of(largest),
            inputs.scale_of(largest_weight, inputs.LARGEST_WEIGHT_EXPONENT),
        )

    @classmethod
    def of_rows(cls, X: Any, weights: Array) -> "Units":
        """Return the units that suit these rows.

        Rows of zero weight have no say: they are left out if they would change it.
        """
        largest = inputs.magnitude(X)
        if inputs.scale_of(largest) != 1.0 and not weights.all():
            largest = inputs.magnitude(X[weights > 0])
        return cls.of(largest, float(weights.max()))

    def rows(self, X: Any, weights: Array, what: str = "X") -> MemoryRows:
        """Return the rows in computing units, or say which one does not fit in."""
        inputs.refuse_far_rows(X, self.scale, what)
        return MemoryRows(X, weights * self.weight_scale, self.scale)

    def means_in(self, means: Array) -> Array:
        return np.asarray(means, dtype=np.float64) * self.scale

    def means_out(self, means: Array) -> Array:
        return means / self.scale

    def variance_in(self, variance: float) -> float:
        return variance * self.scale * self.scale

    def variance_out(self, variance: float) -> float:
        return self._held(variance / self.scale / self.scale, variance, "variance_")

    def objective_out(self, objective: float) -> float:
        value = objective / self.scale / self.scale / self.weight_scale
        return self._held(value, objective, "inertia_")

    def log_density_out(self, value: Any, D: int) -> Any:
        """Return a log density, or a mean of them, per volume in a person's units."""
        return value + D * math.log(self.scale)

    def _held(self, value: float, computed: float, name: str) -> float:
        if computed == 0.0 or sys.float_info.min <= value <= sys.float_info.max:
            return value
        direction = "large" if value > 1.0 else "small"
        raise ValueError(
            f"{name} is too {direction} for float64: the squares of these data cannot "
            f"be held. Rescale X first, for instance multiply it by {self.scale:.3g}."
        )
