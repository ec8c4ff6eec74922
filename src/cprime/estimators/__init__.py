"""The scikit-learn doors: names in, trailing underscores out."""

from cprime.checkpointing.checkpoint import Checkpoint
from cprime.estimators.auto import AutoMixture
from cprime.estimators.fuzzy import FuzzyKMeans
from cprime.estimators.kmeans import KMeans
from cprime.estimators.lightweight import Coreset, coreset
from cprime.estimators.mixture import GaussianMixture
from cprime.estimators.soft import SoftKMeans
from cprime.estimators.trials import Trial
from cprime.fitting.progress import Progress
from cprime.model_files.description import describe
from cprime.model_files.saving import load, save

__all__ = [
    "AutoMixture",
    "Checkpoint",
    "Coreset",
    "FuzzyKMeans",
    "GaussianMixture",
    "KMeans",
    "Progress",
    "SoftKMeans",
    "Trial",
    "coreset",
    "describe",
    "load",
    "save",
]
