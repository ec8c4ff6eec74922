"""One dial from k-means to Gaussian mixtures."""

import importlib
from typing import Any

from cprime import bounds, datasets
from cprime.estimators import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans
from cprime.sources import Data, open_data

__version__ = "0.1.0"

__all__ = [
    "Data",
    "FuzzyKMeans",
    "GaussianMixture",
    "KMeans",
    "SoftKMeans",
    "bounds",
    "datasets",
    "open_data",
    "plots",
]


def __getattr__(name: str) -> Any:
    # Matplotlib is slow to import, and not everyone draws.
    if name == "plots":
        return importlib.import_module("cprime.plots")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
