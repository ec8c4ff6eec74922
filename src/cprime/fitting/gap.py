"""What do the rows of a fit lose by looking at few clusters?"""

from cprime import bounds
from cprime.fitting.restarts import State
from cprime.fitting.results import Attributes, Results


def gap_of_best(results: Results, state: State) -> Attributes:
    """Return L and the gap of the best restart, and the work of all with this.

    It looks at all clusters once more. Where no density is fitted there is nothing.
    """
    if not results.has_density:
        return {}
    assert state.best is not None and state.best.fit is not None
    problem, fit = results.problem, state.best.fit
    coefficients = problem.model.coefficients(fit.theta)
    gap = 0.0
    if problem.C_prime < len(coefficients.means):
        # The clusters of F, which are known; labels may be state (lazy-k-means).
        K = fit.K.array()
        gap = bounds.gap(problem.rows, coefficients, K=K, kernel=problem.kernel)
    free_energy = results.measured(fit.free_energy)["free_energy"]
    evaluations = problem.rows.n_rows * len(coefficients.means)
    return {
        "log_likelihood_": free_energy + gap,
        "gap_": gap,
        "evaluations_": state.evaluations + evaluations,
    }
