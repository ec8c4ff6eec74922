"""What becomes of a cluster that no row belongs to?"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cprime.blocks import n_missing
from cprime.models import Model
from cprime.problem import Problem
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array

# A row may leave its clusters only if at least this share of each stays behind;
# otherwise the move empties another cluster, and subtracting the row leaves noise.
STAYS_BEHIND = 1e-6


class Refilled(NamedTuple):
    """What a sweep left behind, with rows moved to clusters that were empty.

    Attributes
    ----------
    K : as the rows keep it
        With the moved rows in their new cluster alone, where K may be state: at C' = 1,
        and where the search depends on it. Else the next sweep finds it anyway.
    stats : Stats
        As if the moved rows belonged to the formerly empty clusters alone.
    about : Theta
        What the statistics are now taken about: the moved means stand on their rows.
    moved : list of int
        The clusters.
    """

    K: Any
    stats: Stats
    about: Theta
    moved: list[int]


def refill(problem: Problem, K: Any, stats: Stats, theta: Theta) -> Refilled:
    """Move every empty cluster to a badly served row, where that does not lower F.

    The row leaves the sums of the clusters it belonged to, together with its identical
    copies, so that a weight of two stays the same as the row given twice.

    Parameters
    ----------
    problem : Problem
    K, stats
        Of a sweep under `theta`.
    theta : Theta
    """
    refilled = Refilled(K, stats, theta, [])
    empty = np.flatnonzero(stats.counts == 0)
    if len(empty) == 0:
        return refilled
    for cluster, copies in zip(empty, _worst_served(problem, theta, len(empty))):
        part = problem.rows.subset(copies)
        leaving = replace(problem, rows=part).sums(theta, K.part(copies))
        place = part.take(np.array([0]))[0]
        moved, about = _move(problem.model, refilled, leaving, int(cluster), place)
        clusters = [*refilled.moved, int(cluster)]
        if _is_better(problem.model, refilled, moved, about, clusters):
            K_moved = refilled.K
            if problem.C_prime == 1 or problem.search.depends_on_K:
                K_moved = K_moved.reassigned(copies, int(cluster))
            refilled = Refilled(K_moved, moved, about, clusters)
    return refilled


def _worst_served(problem: Problem, theta: Theta, count: int) -> list[Array]:
    """Return the `count` distinct rows farthest from every mean, farthest first.

    Each comes as the indices of all its identical copies. Rows at the same distance
    are ordered by their values, so the answer does not depend on the order of rows.
    Rows with missing values are no place for a mean, which has all its features.
    """
    coefficients, kernel = problem.model.coefficients(theta), problem.kernel

    def distance_if_weighted(values: Array, weights: Array) -> Array:
        nearest = kernel.posterior(values, coefficients, 1).distances[:, 0]
        complete = n_missing(values) == 0
        return np.where(complete & (weights > 0), nearest, 0.0)

    def farthest(weights: Array, distances: Array) -> tuple[Array, Array]:
        # Every distance is that of at least one row.
        different = np.unique(distances)[-count:]
        places = np.flatnonzero((distances >= different[0]) & (distances > 0))
        return places, distances[places]

    rows, distances = problem.rows.pick(
        farthest, problem.rows.columns(distance_if_weighted)
    )
    found: list[Array] = []
    for distance in np.unique(distances)[::-1]:
        if len(found) >= count:
            break
        tied = rows[distances == distance]
        contents, copy_of = np.unique(
            problem.rows.take(tied), axis=0, return_inverse=True
        )
        # Numpy 2.0 gives them a second axis.
        copy_of = copy_of.reshape(-1)
        found += [tied[copy_of == i] for i in range(len(contents))]
    return found[:count]


def _move(
    model: Model, refilled: Refilled, leaving: Stats, cluster: int, place: Array
) -> tuple[Stats, Theta]:
    """Return the statistics with the leaving rows in `cluster`, at its new place."""
    stats, about = refilled.stats, refilled.about
    staying = stats - leaving
    counts, means = staying.counts.copy(), about.means.copy()
    counts[cluster], means[cluster] = leaving.weight, place
    about = replace(about, means=means)
    # Rows on their mean: of log p(y, c) the bias is left.
    log_density = float(model.coefficients(about).bias[cluster])
    moved = replace(
        staying,
        counts=counts,
        scatter=model.remaining(stats.scatter, leaving.scatter),
        free_energy=staying.free_energy + leaving.weight * log_density,
        weight=stats.weight,
        evaluations=stats.evaluations,
        changed=stats.changed,
    )
    return moved, about


def _is_better(
    model: Model,
    before: Refilled,
    moved: Stats,
    moved_about: Theta,
    clusters: list[int],
) -> bool:
    _, stats, about, already_moved = before
    donors = stats.counts > 0
    if np.any(moved.counts[donors] < STAYS_BEHIND * stats.counts[donors]):
        return False
    move = model.reseeded(model.maximize(moved, moved_about), clusters)
    stay = model.reseeded(model.maximize(stats, about), already_moved)
    return model.free_energy(move, moved, moved_about) > model.free_energy(
        stay, stats, about
    )
