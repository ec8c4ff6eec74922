"""Which search does a user want, and is it possible?"""

from typing import Any

from cprime.search import Exact, Lazy, Neighbours, Search


def checked_search(estimator: Any, C: int, C_prime: int) -> Search:
    """Return what an estimator's `search` asks for, or why it cannot be."""
    if estimator.search == "exact":
        return Exact()
    if estimator.search == "neighbours":
        return _checked_neighbours(estimator, C, C_prime)
    if C_prime == C > 1:
        raise ValueError(
            f"search='lazy' needs c_prime below the number of clusters, {C}, not "
            f"{estimator.c_prime}: rows that keep all clusters leave none. Use "
            "search='exact', or c_prime=1."
        )
    return Lazy(float(estimator.eps))


def _checked_neighbours(estimator: Any, C: int, C_prime: int) -> Neighbours:
    if C_prime == C:
        raise ValueError(
            f"search='neighbours' needs c_prime below the number of clusters, {C}, not "
            f"{estimator.c_prime}: rows that keep all clusters look at all of them. "
            "Use search='exact'" + (", or c_prime=3." if C > 3 else ".")
        )
    count, n_explore = int(estimator.n_neighbors), int(estimator.n_explore)
    if count < C_prime:
        raise ValueError(
            f"n_neighbors={count} should be at least c_prime={C_prime}: a row keeps "
            "clusters near the best it has."
        )
    if getattr(estimator, "missing", "error") != "error":
        raise ValueError(
            "search='neighbours' does not support missing values: use search='exact', "
            "or missing='error' if X has none."
        )
    if getattr(estimator, "covariance_type", "") in ("full", "tied"):
        raise ValueError(
            f"search='neighbours' does not support covariance_type="
            f"{estimator.covariance_type!r}: use 'isotropic', 'spherical' or 'diag', "
            "or search='exact'."
        )
    return Neighbours(min(count, C), n_explore, estimator.finish == "exact")
