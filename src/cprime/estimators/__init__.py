"""The scikit-learn doors: names in, trailing underscores out."""

from cprime.estimators.checkpoints import Checkpoint
from cprime.estimators.fuzzy import FuzzyKMeans
from cprime.estimators.kmeans import KMeans
from cprime.estimators.mixture import GaussianMixture
from cprime.estimators.progress import Progress
from cprime.estimators.saving import describe, load, save
from cprime.estimators.soft import SoftKMeans

__all__ = [
    "Checkpoint",
    "FuzzyKMeans",
    "GaussianMixture",
    "KMeans",
    "Progress",
    "SoftKMeans",
    "describe",
    "load",
    "save",
]
