"""Which rows are clustered, and from where does a fit start?"""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine

from cprime.datasets import fetch_kdd_protein, make_birch_grid, make_birch_random

Array = np.ndarray

# Rows filled at a time, so that data can be made without a temporary of their size.
BLOCK = 65_536


@dataclass(frozen=True)
class Input:
    """Rows to cluster, and into how many clusters.

    Attributes
    ----------
    source : {"KDD", "BIRCH", "uneven", "digits", "iris", "wine", "blobs"}
    C : int
    N : int, optional
        Rows; of data that are not drawn the first N, or all.
    D : int, optional
        Features; needed for "blobs" only.
    """

    source: str
    C: int
    N: int | None = None
    D: int | None = None

    def load(self) -> Array | None:
        """Return the rows as contiguous float32, or None if there is no such file."""
        if self.source == "blobs":
            return blobs(self.N, self.D, self.C)
        if self.source == "BIRCH":
            return birch(self.N, self.C)
        if self.source == "uneven":
            return uneven(self.N, self.C)
        rows = kdd() if self.source == "KDD" else SMALL[self.source]()
        return None if rows is None else np.ascontiguousarray(rows[: self.N])

    def label(self, X: Array) -> str:
        """Return what tables call this input."""
        return f"{self.source} {X.shape[0]:,} x {X.shape[1]}, C={self.C}"


# Data that come with scikit-learn.
SMALL = {
    "digits": lambda: load_digits().data.astype(np.float32),
    "iris": lambda: load_iris().data.astype(np.float32),
    "wine": lambda: load_wine().data.astype(np.float32),
}


@lru_cache(maxsize=1)
def kdd() -> Array | None:
    """Return the 74 features of the KDD Cup 2004 protein homology data, float32."""
    default = Path(__file__).parents[2] / "shared" / "data"
    try:
        X = fetch_kdd_protein(os.environ.get("CPRIME_DATA", default))
    except FileNotFoundError:
        return None
    return X.astype(np.float32)


def birch(N: int, C: int) -> Array:
    """Return the BIRCH grid with N rows in C clusters, shuffled, float32."""
    side = round(C**0.5)
    sample = make_birch_grid(side, N // C, rng=0).data.astype(np.float32)
    np.random.default_rng(1).shuffle(sample)
    return sample


def uneven(N: int, C: int) -> Array:
    """Return N rows in C clusters of unit variance anywhere in a square, shuffled."""
    sample = make_birch_random(C, -(-N // C), rng=0).data.astype(np.float32)
    np.random.default_rng(1).shuffle(sample)
    return sample[:N]


def blobs(N: int, D: int, C: int, seed: int = 0) -> Array:
    """Draw rows from C Gaussians of unit variance that overlap but are there.

    The means are normal with a standard deviation of 4 C^(1/D) / sqrt(D) per feature.
    The median distance of a mean to its nearest neighbour is then about five standard
    deviations (4.5 to 5.4 for the shapes used here, though it scatters widely in few
    features), so that pruning has similar chances in all of them. Rows come in random
    order.

    Parameters
    ----------
    N, D, C : int
        Rows, features, clusters.
    seed : int, default=0

    Returns
    -------
    X : ndarray of shape (N, D), float32
    """
    rng = np.random.default_rng(seed)
    spread = np.float32(4.0 * C ** (1.0 / D) / D**0.5)
    means = rng.standard_normal((C, D), dtype=np.float32) * spread
    X = np.empty((N, D), dtype=np.float32)
    for start in range(0, N, BLOCK):
        block = X[start : start + BLOCK]
        rng.standard_normal(dtype=np.float32, out=block)
        block += means[rng.integers(C, size=len(block))]
    return X


def first_centers(X: Array, C: int, seed: int = 0) -> Array:
    """Return C random rows, all of different value: where every contestant starts."""
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order[distinct(X[order[: 4 * C]])][:C]]


def distinct(rows: Array) -> Array:
    """Return the indices of the first of each group of equal rows, in order."""
    return np.sort(np.unique(rows, axis=0, return_index=True)[1])
