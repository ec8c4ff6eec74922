"""The scikit-learn doors: names in, trailing underscores out."""

from cprime.estimators.kmeans import KMeans

__all__ = ["KMeans"]
