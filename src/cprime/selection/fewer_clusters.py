"""Would fewer clusters of the same shape describe these rows better?"""

from typing import NamedTuple

import numpy as np

from cprime.kernels import get_kernel
from cprime.models import Diagonal, Full, Isotropic, Model, Spherical, Tied
from cprime.rows import MemoryRows
from cprime.sampling import distinct_sample
from cprime.selection.choice import Search
from cprime.selection.criteria import NO_EVIDENCE
from cprime.theta import Theta
from cprime.typing import Array

# The question is asked of so many rows: it should take no longer than a page takes.
MOST_ROWS = 2000
# A search holds a matrix for every cluster: of more values it would take too long.
MOST_VALUES = 2**22
# Beyond this, squares of squares leave float64.
LARGEST, SMALLEST = 1e70, 1e-70
# Of the variance of a feature, below which a cluster is a point.
FLOOR = 1e-6
# Of fewer different rows, nothing can be said.
FEWEST_ROWS = 10
SHAPES: dict[type[Model], str] = {
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
    C, D = theta.means.shape
    # Not so for a value that is missing, either.
    largest = float(np.abs(X).max(initial=0.0))
    if C == 1 or C * D * D > MOST_VALUES or not SMALLEST < largest < LARGEST:
        return None
    spread = np.ptp(X, axis=0)
    # What never changes tells nothing, and has no variance.
    rows = MemoryRows(np.asarray(X[:, spread > 0], dtype=np.float64), weights)
    sample = distinct_sample(rows, MOST_ROWS, np.random.default_rng(0))
    if sample.n_rows < FEWEST_ROWS:
        return None
    ours, total = float(sample.weights.sum()), float(rows.weights.sum())
    sample = MemoryRows(sample.X, sample.weights * (total / ours))
    floor = FLOOR * np.var(sample.X, axis=0)
    shape = _shape_of(model, theta)
    search = Search(
        sample, sample, get_kernel("auto"), (shape,), "bic", floor, C, seed=0
    )
    for _ in search.run():
        continue
    choice = search.choice()
    found, bic = choice.by_bic, search.criterion
    rivals = [bic(c.scores) for c in choice.candidates if c.C == C]
    if ours == total and (spread > 0).all():
        # The same rows: the fit itself is a rival.
        rivals.append(bic_of_fit)
    better = bic(found.scores) + NO_EVIDENCE <= min(rivals, default=np.inf)
    return Fewer(found.C, sample.n_rows) if found.C < C and better else None


def _shape_of(model: Model, theta: Theta) -> str:
    if isinstance(model, Isotropic):
        return "k-means" if theta.proportions is None else "isotropic"
    return SHAPES[type(model)]
