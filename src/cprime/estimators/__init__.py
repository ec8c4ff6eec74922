"""The scikit-learn doors: names in, trailing underscores out."""

from cprime.estimators.kmeans import KMeans
from cprime.estimators.mixture import GaussianMixture

__all__ = ["GaussianMixture", "KMeans"]
