"""Everything a fit is made of, except where it starts."""

from dataclasses import dataclass, field, replace
from typing import Any

from cprime.kernels import Kernel
from cprime.models import Model
from cprime.rows import Rows
from cprime.search import Exact, Search
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array


@dataclass(frozen=True)
class Problem:
    """The rows, the model, and how the E-step is to be done.

    `extrapolates` says whether a fit may leap ahead along its M-steps, which needs
    equal clusters of one variance.
    """

    rows: Rows
    model: Model
    search: Search
    kernel: Kernel
    C_prime: int
    extrapolates: bool = field(default=False, kw_only=True)

    def sweep_about_seeds(self, means: Array) -> tuple[Any, Stats]:
        """Assign every row to the closest of these means, before covariances are known.

        One cluster a row, whatever C' is.
        """
        hard = replace(self, search=Exact(), C_prime=1)
        return hard.sweep(self.model.unit_theta(means), None)

    def fits_at_once(self, C: int) -> int:
        """Return how many fits of C clusters get on better side by side."""
        if self.rows.block is None:
            return 1
        return self.kernel.fits_at_once(self.rows.n_rows, C, self.rows.n_features)

    def sweep(self, theta: Theta, K: Any, *, last: bool = False) -> tuple[Any, Stats]:
        """Run an E-step under theta, from the clusters K (None before the first).

        No sweep starts from the K of the `last`, so it keeps no hints.
        """
        coefficients = self.model.coefficients(theta)
        plan = self.search.plan()
        if last:
            plan = replace(plan, keep_hints=False)
        return self.rows.sweep(self.kernel, K, coefficients, plan, self.C_prime)
