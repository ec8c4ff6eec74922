"""
Clusters of rows with many features
===================================

Thirteen measurements of 178 wines. What are the clusters like, which of them overlap,
and which wines fit into none?
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from cprime import KMeans
from cprime.plots import (
    ClusterMapDisplay,
    DistanceDisplay,
    MapDisplay,
    ProfileDisplay,
    SizesDisplay,
)

# %%
# Features count alike once each is divided by its spread.

wines = load_wine(as_frame=True).data
wines = (wines - wines.mean()) / wines.std()
kmeans = KMeans(5, c_prime=2, n_init=10, random_state=0).fit(wines)

# %%
# In which features does a cluster differ from all rows, and by how many spreads?

ProfileDisplay.from_estimator(kmeans, wines).plot()
plt.show()

# %%
# How large are clusters, and which overlap? Positions are seen along the two directions
# in which the centres differ most.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
SizesDisplay.from_estimator(kmeans).plot(left)
ClusterMapDisplay.from_estimator(kmeans).plot(right)
plt.show()

# %%
# The rows themselves, along the main directions of the centres, and along two features.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
MapDisplay.from_estimator(kmeans, wines).plot(left)
MapDisplay.from_estimator(kmeans, wines, features=("alcohol", "proline")).plot(right)
plt.show()

# %%
# Rows farther from their cluster than its Gaussian allows are beyond the dashed line.

DistanceDisplay.from_estimator(kmeans, wines).plot()
plt.show()
