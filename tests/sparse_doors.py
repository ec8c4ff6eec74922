"""Every door a sparse matrix may come to, for pytest and for a build that watches."""

import tempfile
import warnings
from functools import cache, partial
from pathlib import Path

import numpy as np
from malformed_sparse import DENSE, N, malformed, unusual
from sklearn.exceptions import ConvergenceWarning

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans, bounds, plots
from cprime.models import Isotropic
from cprime.theta import Theta

CENTERS = (KMeans, SoftKMeans, FuzzyKMeans)
MEASURES = ["score", "free_energy", "log_likelihood", "gap", "bic", "aic"]
BOUNDS = ["free_energy", "log_likelihood", "gap", "gap_per_row", "gap_per_cluster"]
DISPLAYS = ["MapDisplay", "ProfileDisplay", "SizesDisplay", "DistanceDisplay"]
K = np.zeros((N, 1), dtype=int)


@cache
def fitted(cls):
    with warnings.catch_warnings():
        # So few rows make flat mixtures.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cls(2, random_state=0).fit(DENSE)


def asked(cls, method, X, **options):
    return getattr(fitted(cls), method)(X, **options)


def fitting(cls, method, X, **options):
    return getattr(cls(2, random_state=0, **options), method)(X)


def starting(cls, X):
    # What is called may return a sparse matrix; itself, `init` must not be one.
    return cls(N, init=lambda *_, random_state: X, n_init=1).fit(DENSE)


def bounded(function, X, **options):
    means = np.array([DENSE[0], DENSE[6]])
    coefficients = Isotropic().coefficients(Theta(means, 1.0))
    return getattr(bounds, function)(X, coefficients, **options)


def saved(X):
    kmeans = KMeans(2, random_state=0).fit(DENSE).set_params(init=X)
    with tempfile.TemporaryDirectory() as folder:
        kmeans.save(Path(folder) / "model.cprime")


def reported(X):
    with tempfile.TemporaryDirectory() as folder:
        fitted(KMeans).report(Path(folder) / "report.html", X)


def drawn(display, X):
    import matplotlib.pyplot as plt

    getattr(plots, display).from_estimator(fitted(KMeans), X)
    plt.close("all")


# Where rows come in, and what answers at once.
OF_ROWS = {
    **{
        f"{cls.__name__}.{method}": partial(fitting, cls, method)
        for cls in CENTERS
        for method in ("fit", "fit_predict", "fit_transform")
    },
    "KMeans.partial_fit": partial(fitting, KMeans, "partial_fit"),
    "KMeans.fit in numpy": partial(fitting, KMeans, "fit", kernel="reference"),
    **{
        f"{cls.__name__}.{method}": partial(asked, cls, method)
        for cls in (*CENTERS, GaussianMixture)
        for method in ("predict", "transform", "score_samples", *MEASURES)
        if hasattr(cls, method)
    },
    **{
        f"{cls.__name__}.predict_proba, sparse={sparse}": partial(
            asked, cls, "predict_proba", sparse=sparse
        )
        for cls in (*CENTERS, GaussianMixture)
        for sparse in (True, False)
    },
    "gap per row": partial(asked, KMeans, "gap", per="row"),
    "gap per cluster": partial(asked, KMeans, "gap", per="cluster"),
    **{f"bounds.{name}": partial(bounded, name) for name in BOUNDS},
    "bounds of K": partial(bounded, "gap", K=K),
    "bounds of q": partial(bounded, "variational_free_energy", q=1.0 + K, K=K),
}
# Those that draw.
OF_PAGES = {
    "report": reported,
    **{name: partial(drawn, name) for name in DISPLAYS},
}
# Where centres come in.
OF_CENTERS = {
    **{f"init of {cls.__name__}": partial(starting, cls) for cls in CENTERS},
    "save": saved,
}


def refused(door, X):
    """Return what a door says of a matrix it refuses; None if it takes it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            door(X)
        except ValueError as error:
            return str(error)
    return None


def attack():
    """Come to all doors with all matrices; return how often that was."""
    doors, count = {**OF_ROWS, **OF_CENTERS, **OF_PAGES}, 0
    for name, X, _ in malformed():
        for where, door in doors.items():
            assert refused(door, X) is not None, f"{where} takes {name}"
            count += 1
    for name, X in unusual():
        for where, door in {**OF_ROWS, **OF_CENTERS}.items():
            said = refused(door, X)
            assert said is None, f"{where} does not take {name}: {said}"
            count += 1
    return count
