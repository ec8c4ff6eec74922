"""One dial from k-means to Gaussian mixtures."""

from cprime import bounds, datasets
from cprime.estimators import (
    Checkpoint,
    FuzzyKMeans,
    GaussianMixture,
    KMeans,
    Progress,
    SoftKMeans,
    describe,
    load,
    save,
)
from cprime.sources import Data, open_data

__version__ = "0.1.0"

__all__ = [
    "Checkpoint",
    "Data",
    "FuzzyKMeans",
    "GaussianMixture",
    "KMeans",
    "Progress",
    "SoftKMeans",
    "bounds",
    "datasets",
    "describe",
    "load",
    "open_data",
    "save",
]
