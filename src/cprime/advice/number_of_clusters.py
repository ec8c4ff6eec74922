"""Do these clusters describe their rows better than one cluster, and than fewer?"""

from dataclasses import dataclass

from cprime.advice import of_choice
from cprime.advice.verdicts import Finding
from cprime.models import Model
from cprime.selection.fewer_clusters import clusters_of_any_shape, fewer_clusters
from cprime.selection.one_cluster import against_one
from cprime.theta import Theta
from cprime.typing import Array


@dataclass(frozen=True)
class SomeRows:
    """Rows that stand for all of a fit.

    Attributes
    ----------
    X : ndarray of shape (N, D)
        In the units of the fit.
    stands_for : ndarray of shape (N,)
        How many rows each of them counts as.
    n_rows : int
        How many rows there are in all.
    """

    X: Array
    stands_for: Array
    n_rows: int


def number_of_clusters(
    model: Model,
    theta: Theta,
    shares: Array,
    log_likelihood: float,
    total: float,
    some: SomeRows | None = None,
) -> Finding | None:
    """Return what BIC says of the number of clusters; None if there is only one.

    Parameters
    ----------
    model : Model
    theta : Theta
    shares : ndarray of shape (C,)
        Of the rows of every cluster.
    log_likelihood : float
        L, in nats per row.
    total : float
        Rows, or their weight.
    some : SomeRows, optional
        Without them only one cluster of the same shape is asked about.
    """
    C = len(theta.means)
    one = against_one(model, theta, shares, log_likelihood, total)
    if one is None:
        return None
    found = of_choice.against_one(C, *one)
    if some is None:
        return found
    rows = some.X, some.stands_for
    if found.level == "good":
        fewer = fewer_clusters(model, theta, one.of_clusters, *rows)
        return found if fewer is None else of_choice.fewer(C, *fewer, some.n_rows)
    # Clusters of the wrong shape can be worse than one, where others are not.
    other = clusters_of_any_shape(C, some.X)
    return found if other is None else of_choice.other_shape(C, *other)
