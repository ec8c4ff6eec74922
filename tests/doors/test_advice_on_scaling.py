"""Is advice to standardise good advice? Both ways are measured."""

import numpy as np
import pytest
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score

from cprime import KMeans
from cprime.advice.of_data import unequal_scales

# Adjusted Rand indices closer than this are alike.
ALIKE = 0.03


def blobs(scales, seed=0):
    """Four clusters along the first two columns; the other columns are noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=600)
    X = rng.standard_normal((600, len(scales)))
    X[:, :2] += 6.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[labels]
    return X * np.asarray(scales), labels


def shipped(name):
    found = getattr(datasets, f"load_{name}")()
    return found.data, found.target


SETS = {
    "iris": (shipped("iris"), None),
    "wine": (shipped("wine"), "poor"),
    "digits": (shipped("digits"), None),
    "breast cancer": (shipped("breast_cancer"), "fair"),
    "blobs, one scale": (blobs([1, 1, 1, 1]), None),
    "blobs, a vast column of noise": (blobs([1, 1, 1, 1000]), "poor"),
    "blobs, noise of large units": (blobs([1, 1, 200, 250]), "fair"),
    "blobs, one nearly constant column": (blobs([1, 1, 1, 0.001]), None),
}


def agreement(X, labels):
    """Return how well k-means finds the classes: the mean over five random states."""
    C = len(np.unique(labels))
    fits = [KMeans(C, n_init=5, random_state=seed).fit(X) for seed in range(5)]
    return np.mean([adjusted_rand_score(labels, fit.labels_) for fit in fits])


@pytest.mark.parametrize("name", SETS)
def test_who_follows_the_advice_does_not_lose(name):
    (X, labels), level = SETS[name]
    spreads = X.std(axis=0)
    names = [f"f{i}" for i in range(X.shape[1])]
    found = unequal_scales(names, spreads.tolist(), True)
    assert (found.level if found else None) == level
    varying = spreads > 0
    standardized = X[:, varying] / spreads[varying]
    gain = agreement(standardized, labels) - agreement(X, labels)
    if found:
        assert gain > ALIKE
    else:
        assert gain < ALIKE
