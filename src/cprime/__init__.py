"""One dial from k-means to Gaussian mixtures."""

from cprime import bounds, datasets
from cprime.estimators import (
    FuzzyKMeans,
    GaussianMixture,
    KMeans,
    Progress,
    SoftKMeans,
    describe,
    load,
    save,
)

__version__ = "0.1.0"

__all__ = [
    "FuzzyKMeans",
    "GaussianMixture",
    "KMeans",
    "Progress",
    "SoftKMeans",
    "bounds",
    "datasets",
    "describe",
    "load",
    "save",
]
