"""
Which rows are between clusters?
================================

Seven Gaussians, six of them in close pairs. k-means divides every pair with a line; a
mixture knows that rows near that line could be from either cluster. Such rows are drawn
hollow.
"""

import matplotlib.pyplot as plt
import numpy as np

from cprime import GaussianMixture, KMeans
from cprime.datasets import make_birch_random, make_seven_gaussians
from cprime.plots import MapDisplay

# %%
# k-means has a posterior, too: that of the mixture whose likelihood it bounds. Started
# at the truth, it pushes close clusters apart; EM leaves them where they are.

sample = make_seven_gaussians(250, rng=0)
figure, panels = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
for ax, c_prime in zip(panels, (1, None)):
    kmeans = KMeans(7, init=sample.centers, c_prime=c_prime).fit(sample.data)
    MapDisplay.from_estimator(kmeans, sample.data).plot(ax)
    ax.set_title("k-means" if c_prime == 1 else "EM")
plt.show()

# %%
# Clusters of any shape: the ellipses are the covariances of a mixture, at one and two
# standard deviations.

rows = make_birch_random(8, 150, rng=4).data @ np.array([[1.0, 0.6], [0.0, 0.5]])
mixture = GaussianMixture(8, n_init=5, random_state=0).fit(rows)
MapDisplay.from_estimator(mixture, rows).plot()
plt.show()

# %%
# One feature is a histogram, with the density the mixture found and its components.

line = rows[:, :1]
mixture = GaussianMixture(4, n_init=5, random_state=0).fit(line)
MapDisplay.from_estimator(mixture, line).plot()
plt.show()
