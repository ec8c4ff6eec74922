"""Pictures of a fit, in the manner of scikit-learn's displays.

Each has plain arrays, `from_estimator(...)` to find them, and `plot(ax=None)`.
"""

from cprime import extras

extras.require("plots", "cprime.plots")

from cprime.plots.choice import ChoiceDisplay
from cprime.plots.cluster_map import ClusterMapDisplay
from cprime.plots.distance import DistanceDisplay
from cprime.plots.free_energy import FreeEnergyDisplay
from cprime.plots.mahalanobis import DistanceTally, squared_distances
from cprime.plots.map import MapDisplay
from cprime.plots.profile import ProfileDisplay
from cprime.plots.sizes import SizesDisplay
from cprime.plots.truncation import TruncationDisplay

__all__ = [
    "ChoiceDisplay",
    "ClusterMapDisplay",
    "DistanceDisplay",
    "DistanceTally",
    "FreeEnergyDisplay",
    "MapDisplay",
    "ProfileDisplay",
    "SizesDisplay",
    "TruncationDisplay",
    "squared_distances",
]
