"""cprime and its peers, all asked in the same way."""

import ctypes
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np
import sklearn.cluster
from sklearn.exceptions import ConvergenceWarning

import cprime
from benchmarks.data import distinct
from benchmarks.settings import threads_from_environment
from cprime import em
from cprime.convergence import Tolerance
from cprime.em import Step
from cprime.kernels import get_kernel
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact
from cprime.stats import Stats
from cprime.theta import Theta

Array = np.ndarray

# Tiny and cut-short fits may well have empty clusters: here that is no news.
warnings.simplefilter("ignore", ConvergenceWarning)


@dataclass(frozen=True)
class Fitted:
    """Where a fit ended.

    Attributes
    ----------
    centers : ndarray of shape (C, D)
    iterations : int
    evaluations : int or None
        Distances computed, as the library counts them itself or, where it looks at
        every pair, N C per iteration. None if nobody knows.
    """

    centers: Array
    iterations: int
    evaluations: int | None


def kmeans_class(name: str) -> Callable:
    """Return the class of a contestant that follows scikit-learn's conventions."""
    if name == "cprime":
        return cprime.KMeans
    if name == "scikit-learn":
        return partial(sklearn.cluster.KMeans, algorithm="lloyd")
    if name == "scikit-learn elkan":
        return partial(sklearn.cluster.KMeans, algorithm="elkan")
    import daal4py
    from sklearnex.cluster import KMeans

    # oneDAL has threads of its own, neither OpenMP's nor BLAS's.
    daal4py.daalinit(nthreads=threads_from_environment())
    return KMeans


def fit(name: str, X: Array, init: Array, max_iter: int) -> Fitted:
    """Run Lloyd's iterations from `init` until nothing changes, or `max_iter`."""
    if name == "faiss":
        return _fit_faiss(X, init, max_iter)
    model = kmeans_class(name)(len(init), init=init, n_init=1, max_iter=max_iter, tol=0)
    model.fit(X)
    if name == "cprime":
        evaluations = int(model.evaluations_)
    elif name == "scikit-learn elkan":
        evaluations = None
    else:
        evaluations = len(X) * len(init) * int(model.n_iter_)
    return Fitted(model.cluster_centers_, int(model.n_iter_), evaluations)


def scan(name: str, X: Array, init: Array) -> tuple[Callable[[], Array], Array]:
    """Return a function that labels all rows, and the centres it does it for.

    The centres are those after one iteration from `init`, by the library itself: equal
    for all but for rounding, and every `predict` finds the model its own `fit` left.
    """
    if name == "faiss":
        import faiss

        centers = np.ascontiguousarray(fit(name, X, init, 1).centers)
        return (lambda: faiss.knn(X, centers, 1)[1][:, 0]), centers
    model = kmeans_class(name)(len(init), init=init, n_init=1, max_iter=1, tol=0)
    model.fit(X)
    return partial(model.predict, X), model.cluster_centers_


def cprime_mixture(X: Array, init: Array) -> Theta:
    """Return centres and variance after one iteration of k-means from `init`."""
    model = cprime.KMeans(len(init), init=init, n_init=1, max_iter=1, tol=0).fit(X)
    return Theta(model.cluster_centers_.astype(np.float64), float(model.variance_))


def cprime_sweep(X: Array, theta: Theta, C_prime: int) -> Callable[[], Stats]:
    """Return a function that runs one E-step: search, posteriors and statistics.

    No earlier clusters are handed in, so nothing can be pruned.
    """
    kernel = get_kernel("auto")
    problem = Problem(MemoryRows(X), Isotropic(), Exact(), kernel, C_prime)
    return lambda: problem.sweep(theta, None)[1]


def cprime_iterations(
    X: Array, theta: Theta, C_prime: int, max_iter: int
) -> list[Step]:
    """Return the steps of a fit from theta, without what a fit does once, at its end.

    A fit ends with the gap, which peers do not compute. It takes longer for some
    parameters than for others, and would not cancel in a difference of two fits.
    """
    model = Isotropic(variance_init=theta.covariance)
    problem = Problem(MemoryRows(X), model, Exact(), get_kernel("auto"), C_prime)
    return list(em.steps(problem, theta.means, Tolerance(0.0, 0.0), max_iter))


def installed(names: tuple[str, ...]) -> list[str]:
    """Return those contestants that can be imported, and say which cannot."""
    modules = {"faiss": "faiss", "intelex": "sklearnex", "geokmeans": "geokmeans"}
    missing = [n for n in names if n in modules and find_spec(modules[n]) is None]
    for name in missing:
        print(f"   {name} is not installed: left out")
    return [name for name in names if name not in missing]


def fit_geokmeans(X: Array, C: int, seed: int, max_iter: int) -> Fitted:
    """Run geokmeans, which draws its own start; `geokmeans_start` tells which."""
    from geokmeans import GeoKMeans

    model = GeoKMeans(C, algorithm="geo", max_iter=max_iter, tol=0, random_state=seed)
    model.fit(X)
    return Fitted(model.cluster_centers_, model.n_iter_, model.n_distance_calculations_)


def geokmeans_start(X: Array, C: int) -> tuple[Array, int]:
    """Return the rows geokmeans starts from, and the seed that makes it do so.

    It accepts no initial centres, but shuffles row numbers with the C library's
    generator. The same shuffle here lets all others start where it does. The seed is
    the first that draws rows of different value.
    """
    libc = ctypes.CDLL(None)
    largest = 2**31 - 1
    for seed in range(1, 1000):
        order = np.arange(len(X))
        libc.srand(seed)
        for i in range(C):
            j = i + libc.rand() // (largest // (len(X) - i) + 1)
            order[i], order[j] = order[j], order[i]
        start = X[order[:C]]
        if len(distinct(start)) == C:
            return start, seed
    raise ValueError(f"No seed below 1000 draws {C} rows of different value.")


def _fit_faiss(X: Array, init: Array, max_iter: int) -> Fitted:
    import faiss

    kmeans = faiss.Kmeans(
        X.shape[1],
        len(init),
        niter=max_iter,
        nredo=1,
        # By default it clusters a sample of 256 rows per centre.
        max_points_per_centroid=len(X),
        min_points_per_centroid=1,
    )
    kmeans.train(X, init_centroids=init)
    # The others end with labels of the rows for the last centres.
    kmeans.assign(X)
    iterations = len(kmeans.obj)
    return Fitted(kmeans.centroids, iterations, len(X) * len(init) * (iterations + 1))
