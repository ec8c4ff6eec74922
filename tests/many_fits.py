"""Many small fits of every kind, for a build that watches memory: `make sanitize`.

And every malformed sparse matrix, at every door it may come to.
"""

import sys
import warnings

import numpy as np
import scipy.sparse as sp
from sparse_doors import attack

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans
from cprime.kernels import _native, hints, native

TYPES = ["full", "tied", "diag", "spherical", "isotropic"]
INITS = ["k-means++", "plain-k-means++", "k-means||", "afk-mc2", "random"]
# How often there are many clusters; by turns on every instruction set.
EVERY = 5


def fit_once(rng):
    """Fit something random, and ask the fit everything."""
    X, weights = drawn(rng)
    if rng.random() < 0.5:
        fit_k_means(rng, X, weights)
    elif rng.random() < 0.7:
        fit_mixture(rng, X, weights)
    else:
        fit_neighbour(rng, X, weights)


def fit_many_clusters(rng):
    """Fit so many clusters of so many features that bytes and bounds are used.

    Half of all have so few that bounds do not come with lists of neighbours.
    """
    C, D = int(rng.integers(256, 700)), int(rng.integers(12, 90))
    centers = rng.standard_normal((64, D))
    N = C + int(rng.integers(1500))
    X = centers[rng.integers(0, 64, N)] + 0.3 * rng.standard_normal((N, D))
    X = X.astype(rng.choice([np.float32, np.float64]))
    for c_prime in 1, 2, 3:
        kmeans = KMeans(
            C,
            c_prime=c_prime,
            search=["exact", "exact", "neighbours"][rng.integers(3)],
            init=["k-means||", "random"][rng.integers(2)],
            max_iter=6,
            kernel="native",
            random_state=int(rng.integers(2**31)),
        )
        kmeans.fit(X, sample_weight=rng.integers(1, 3, N))
        kmeans.predict(X)
        kmeans.gap(X)


def drawn(rng):
    N, D = int(rng.integers(1, 400)), int(rng.integers(1, 90))
    X = rng.standard_normal((N, D)).astype(rng.choice([np.float32, np.float64]))
    X *= 10.0 ** rng.integers(-3, 4)
    if rng.random() < 0.3:
        X = np.round(X)
    if rng.random() < 0.3:
        X = X[rng.integers(0, N, N)]
    if rng.random() < 0.3:
        X = np.asfortranarray(X)
    weights = rng.integers(0, 3, N) + (rng.random() < 0.5)
    return X, weights if weights.any() else None


def kept(rng, C):
    """Draw a C'."""
    c_prime = [1, 2, 5, C - 1, None][rng.integers(5)]
    return c_prime if c_prime is None else min(max(c_prime, 1), C)


def fit_mixture(rng, X, weights):
    C = int(rng.integers(1, min(len(X), 40) + 1))
    lazy, c_prime = rng.random() < 0.2, kept(rng, C)
    mixture = GaussianMixture(
        C,
        covariance_type=TYPES[rng.integers(len(TYPES))],
        c_prime=min(c_prime or 1, max(C - 1, 1)) if lazy else c_prime,
        search="lazy" if lazy else "exact",
        init_params=["kmeans", "k-means++", "random"][rng.integers(3)],
        max_iter=int(rng.integers(0, 6)),
        reg_covar=[None, 0, 1e-3][rng.integers(3)],
        kernel="native",
        random_state=int(rng.integers(2**31)),
    )
    mixture.fit(X, sample_weight=weights)
    mixture.predict(X)
    mixture.predict_proba(X, c_prime=kept(rng, C))
    mixture.score_samples(X)


def fit_neighbour(rng, X, weights):
    C = int(rng.integers(1, min(len(X), 40) + 1))
    options = {"c_prime": kept(rng, C), "max_iter": 5, "kernel": "native"}
    estimator = [
        SoftKMeans(C, **options),
        FuzzyKMeans(C, **options),
        FuzzyKMeans(C, regularization="quadratic", **options),
    ][rng.integers(3)]
    estimator.fit(X, sample_weight=weights).predict_proba(X)


def fit_k_means(rng, X, weights):
    C = int(rng.integers(1, min(len(X), 150) + 1))
    lazy, c_prime = rng.random() < 0.2, kept(rng, C)
    kmeans = KMeans(
        C,
        c_prime=min(c_prime or 1, max(C - 1, 1)) if lazy else c_prime,
        search="lazy" if lazy else "exact",
        init=INITS[rng.integers(len(INITS))],
        n_init=int(rng.integers(1, 3)),
        max_iter=int(rng.integers(1, 12)),
        kernel="native",
        random_state=int(rng.integers(2**31)),
    )
    given = sp.csr_array(X) if rng.random() < 0.2 else X
    kmeans.fit(given, sample_weight=weights)
    kmeans.predict(X)
    kmeans.predict_proba(X)
    kmeans.score_samples(X)
    kmeans.transform(X)


def main():
    warnings.simplefilter("ignore")
    if "--sanitized" in sys.argv and not _native.is_sanitized:
        sys.exit("this is not the build that watches memory")
    # Bounds also where they would not pay.
    hints.LEAST_WORK, hints.SETTLED, hints.SETTLED_OF_SEVERAL = 0, 1.0, 1.0
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    rng = np.random.default_rng(0)
    for i in range(count):
        native.use_isa(native.isa_names()[i % len(native.isa_names())])
        native.set_num_threads(1 + i // 4 % 4)
        fit_once(rng) if i % EVERY else fit_many_clusters(rng)
    print(f"{count} fits on {', '.join(native.isa_names())}: nothing to report")
    print(f"{attack()} sparse matrices, malformed or unusual: nothing to report")


if __name__ == "__main__":
    main()
