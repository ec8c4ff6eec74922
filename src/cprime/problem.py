"""Everything a fit is made of, except where it starts."""

from dataclasses import dataclass, field, replace
from typing import Any

from cprime.kernels import Kernel
from cprime.models import Model
from cprime.rows import Rows
from cprime.search import Exact, Near, Plan, Search
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

    def sweep_about_seeds(self, means: Array, K: Any = None) -> tuple[Any, Stats]:
        """Assign every row to the closest of these means, before covariances are known.

        One cluster a row, whatever C' is. Of all means; or, if it is known which each
        row is near, of those this search looks at.
        """
        hard = replace(self, search=Exact() if K is None else self.search, C_prime=1)
        return hard.sweep(self.model.unit_theta(means), K)

    def resumed(self, search: Search | None) -> "Problem":
        """Return the problem with its search as far as it had come, if known."""
        return self if search is None else replace(self, search=search)

    def follow(self, theta: Theta) -> tuple["Problem", int]:
        """Return the problem with the search of an E-step under theta.

        Also how many distances that took.
        """

        def find_lists(lists: Array | None, count: int) -> tuple[Array, int]:
            coefficients = self.model.coefficients(theta)
            return self.kernel.near_clusters(coefficients, lists, count)

        search, evaluations = self.search.updated(find_lists)
        if search is self.search:
            return self, evaluations
        return replace(self, search=search), evaluations

    def fits_at_once(self, C: int) -> int:
        """Return how many fits of C clusters get on better side by side."""
        if self.rows.block is None:
            return 1
        return self.kernel.fits_at_once(self.rows.n_rows, C, self.rows.n_features)

    def sweep(self, theta: Theta, K: Any, *, last: bool = False) -> tuple[Any, Stats]:
        """Run an E-step under theta, from the clusters K (None before the first).

        No sweep starts from the K of the `last`, so it keeps no hints.
        """
        if last:
            plan = replace(self.search.last.plan(), keep_hints=False)
        else:
            plan = self.search.plan()
        return self._swept(theta, K, plan)

    def sweep_exactly(self, theta: Theta, K: Any) -> tuple[Any, Stats]:
        """Run an E-step in which rows look at all clusters, from the clusters K."""
        return self._swept(theta, K, Exact().plan())

    def sums(self, theta: Theta, K: Any) -> Stats:
        """Return the statistics under theta of rows that a search gave the clusters K.

        An exact search finds the same ones again; rows of others just keep them.
        """
        plan = self.search.plan()
        if plan.near is not None:
            plan = replace(plan, near=Near(plan.near.lists[:, :0]))
        return self._swept(theta, K, plan)[1]

    def _swept(self, theta: Theta, K: Any, plan: Plan) -> tuple[Any, Stats]:
        coefficients = self.model.coefficients(theta)
        if not self.kernel.runs(plan, coefficients):
            raise ValueError(
                "This kernel has no E-step that looks at some clusters only for such "
                "rows or covariances: use search='exact'."
            )
        return self.rows.sweep(self.kernel, K, coefficients, plan, self.C_prime)
