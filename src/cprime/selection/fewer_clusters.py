"""Would fewer clusters describe these rows better, or clusters of another shape?"""

from typing import NamedTuple

import numpy as np

from cprime.kernels import get_kernel
from cprime.models import Diagonal, Full, Isotropic, Model, Spherical, Tied
from cprime.rows import MemoryRows
from cprime.sampling import distinct_sample
from cprime.selection.choice import Search
from cprime.selection.criteria import NO_EVIDENCE
from cprime.selection.shapes import SHAPES
from cprime.theta import Theta
from cprime.typing import Array

# The question is asked of so many rows: it should take no longer than a page takes.
MOST_ROWS = 2000
# Of all shapes, of fewer: there are six to try, and clusters that are there show soon.
MOST_ROWS_OF_ANY_SHAPE, MOST_OF_ANY_SHAPE = 500, 8
# A search holds a matrix for every cluster: of more values it would take too long.
MOST_VALUES = 2**22
# Beyond this, squares of squares leave float64.
LARGEST, SMALLEST = 1e70, 1e-70
# Of the variance of a feature, below which a cluster is a point.
FLOOR = 1e-6
# Of fewer different rows, nothing can be said.
FEWEST_ROWS = 10
NAMES: dict[type[Model], str] = {
    Spherical: "spherical",
    Diagonal: "diag",
    Tied: "tied",
    Full: "full",
}


class Fewer(NamedTuple):
    """A smaller number of clusters that BIC prefers.

    Attributes
    ----------
    n_clusters : int
    n_rows : int
        How many rows were looked at.
    """

    n_clusters: int
    n_rows: int


def fewer_clusters(
    model: Model,
    theta: Theta,
    bic_of_fit: float,
    X: Array,
    weights: Array | None = None,
) -> Fewer | None:
    """Return how many clusters are better than those of a fit, if fewer are.

    The search of `AutoMixture`, for one shape, up to the number of clusters that were
    fitted. None too if it would take long, or values are missing.

    Parameters
    ----------
    model : Model
    theta : Theta
        What was fitted.
    bic_of_fit : float
        Its BIC, lower is better.
    X : ndarray of shape (N, D)
        All rows, or some of them.
    weights : ndarray of shape (N,), optional
        How often each of them counts; of some rows, how many each stands for.
    """
    C = len(theta.means)
    search = _searched(C, (_shape_of(model, theta),), "bic", X, weights)
    if search is None:
        return None
    choice, bic = search.choice(), search.criterion
    found = choice.by_bic
    rivals = [bic(c.scores) for c in choice.candidates if c.C == C]
    if choice.n_searched == len(X) and np.ptp(X, axis=0).all():
        # The same rows: the fit itself is a rival.
        rivals.append(bic_of_fit)
    better = bic(found.scores) + NO_EVIDENCE <= min(rivals, default=np.inf)
    return Fewer(found.C, choice.n_searched) if found.C < C and better else None


def clusters_of_any_shape(C: int, X: Array) -> tuple[int, str] | None:
    """Return how many clusters there are, up to C, and of which shape.

    Looked for in few rows. None if there is no more than one, or if it would take long.

    Parameters
    ----------
    C : int
    X : ndarray of shape (N, D)
    """
    every = -(-len(X) // MOST_ROWS_OF_ANY_SHAPE)
    X = X[::every]
    most = min(C, MOST_OF_ANY_SHAPE)
    search = _searched(most, tuple(SHAPES), "bic_free_energy", X, None)
    if search is None:
        return None
    best = search.choice().best
    return (best.C, SHAPES[best.shape].covariance_type) if best.C > 1 else None


def _searched(
    C: int, shapes: tuple[str, ...], criterion: str, X: Array, weights: Array | None
) -> Search | None:
    """Return a search up to C clusters that has been run; None if it cannot be."""
    D = X.shape[1]
    # Not so for a value that is missing, either.
    largest = float(np.abs(X).max(initial=0.0))
    if C == 1 or C * D * D > MOST_VALUES or not SMALLEST < largest < LARGEST:
        return None
    # What never changes tells nothing, and has no variance.
    varying = np.ptp(X, axis=0) > 0
    rows = MemoryRows(np.asarray(X[:, varying], dtype=np.float64), weights)
    sample = distinct_sample(rows, MOST_ROWS, np.random.default_rng(0))
    if sample.n_rows < FEWEST_ROWS:
        return None
    scale = float(rows.weights.sum() / sample.weights.sum())
    sample = MemoryRows(sample.X, sample.weights * scale)
    floor = FLOOR * np.var(sample.X, axis=0)
    kernel = get_kernel("auto")
    search = Search(sample, sample, kernel, shapes, criterion, floor, C, seed=0)
    for _ in search.run():
        continue
    return search


def _shape_of(model: Model, theta: Theta) -> str:
    if isinstance(model, Isotropic):
        return "k-means" if theta.proportions is None else "isotropic"
    return NAMES[type(model)]
