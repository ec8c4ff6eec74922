"""
What hard assignment loses
==========================

Every fit raises a free energy F, which stays below the log-likelihood L of the mixture.
How far below, at the end, is what rows lose by keeping only some clusters. Where
clusters are apart, k-means loses next to nothing. Where they overlap, it does not.
"""

import matplotlib.pyplot as plt

from cprime import KMeans
from cprime.datasets import make_birch_grid, make_birch_random
from cprime.plots import FreeEnergyDisplay

# %%
# Two sets of 25 clusters: on a grid, and at random places, where some overlap.

apart = make_birch_grid(rng=1).data
overlapping = make_birch_random(rng=1).data

# %%
# The same k-means on both. The shaded band is the gap: nats per row between the bound
# and the likelihood it bounds.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, data in ((left, apart), (right, overlapping)):
    kmeans = KMeans(25, n_init=10, random_state=0).fit(data)
    FreeEnergyDisplay.from_estimator(kmeans).plot(ax)
plt.show()
