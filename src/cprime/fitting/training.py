"""What a fit is given, in units it can be computed in."""

from dataclasses import dataclass
from typing import Any

from cprime.checking.units import Units
from cprime.kernels import Kernel
from cprime.models import Model
from cprime.problem import Problem
from cprime.rows import Rows
from cprime.search import Search
from cprime.spread import one_cluster
from cprime.theta import Theta
from cprime.typing import Array


@dataclass(frozen=True)
class Training:
    """Checked rows, as a user gave them and as a kernel will sweep them.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (N, D), or Data
        In a user's units.
    rows : Rows
    units : Units
    kernel : Kernel
    overall : Theta
        The mean of all rows, and their variance averaged over features.
    """

    X: Any
    rows: Rows
    units: Units
    kernel: Kernel
    overall: Theta

    @classmethod
    def of(
        cls, X: Any, weights: Array, kernel: Kernel, units: Units | None = None
    ) -> "Training":
        """Return weighted rows, ready to be fitted, in the units that suit them."""
        if units is None:
            units = Units.of_rows(X, weights)
        rows = units.rows(X, weights)
        return cls(X, rows, units, kernel, one_cluster(rows, kernel))

    def problem(
        self, model: Model, search: Search, C_prime: int, extrapolates: bool = False
    ) -> Problem:
        """Return the fit of a model to these rows."""
        return Problem(
            self.rows, model, search, self.kernel, C_prime, extrapolates=extrapolates
        )
