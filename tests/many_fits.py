"""Many small fits of every kind, for a build that watches memory: `make sanitize`."""

import sys
import warnings

import numpy as np
import scipy.sparse as sp

from cprime import KMeans
from cprime.kernels import _native, native


def fit_once(rng):
    """Fit something random, and ask the fit everything."""
    N, D = int(rng.integers(1, 400)), int(rng.integers(1, 90))
    C = int(rng.integers(1, min(N, 150) + 1))
    X = rng.standard_normal((N, D)).astype(rng.choice([np.float32, np.float64]))
    X *= 10.0 ** rng.integers(-3, 4)
    if rng.random() < 0.3:
        X = np.round(X)
    if rng.random() < 0.3:
        X = X[rng.integers(0, N, N)]
    if rng.random() < 0.3:
        X = np.asfortranarray(X)
    lazy = rng.random() < 0.2
    c_prime = 1 if lazy else [1, 2, min(C, 5), None][rng.integers(4)]
    kmeans = KMeans(
        C,
        c_prime=c_prime if c_prime is None else min(c_prime, C),
        search="lazy" if lazy else "exact",
        init=["k-means++", "plain-k-means++", "afk-mc2", "random"][rng.integers(4)],
        n_init=int(rng.integers(1, 3)),
        max_iter=int(rng.integers(1, 12)),
        kernel="native",
        random_state=int(rng.integers(2**31)),
    )
    weights = rng.integers(0, 3, N) + (rng.random() < 0.5)
    given = sp.csr_array(X) if rng.random() < 0.2 else X
    kmeans.fit(given, sample_weight=weights if weights.any() else None)
    kmeans.predict(X)
    kmeans.predict_proba(X)
    kmeans.score_samples(X)
    kmeans.transform(X)


def main():
    warnings.simplefilter("ignore")
    if "--sanitized" in sys.argv and not _native.is_sanitized:
        sys.exit("this is not the build that watches memory")
    # Bounds also where they would not pay.
    native.WORTH_REMEMBERING, native.SETTLED = 0, 1.0
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    rng = np.random.default_rng(0)
    for i in range(count):
        native.use_path(native.path_names()[i % len(native.path_names())])
        native.set_num_threads(1 + i % 4)
        fit_once(rng)
    print(f"{count} fits on {', '.join(native.path_names())}: nothing to report")


if __name__ == "__main__":
    main()
