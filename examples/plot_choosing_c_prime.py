"""
How many clusters should a row keep?
====================================

One cluster per row is k-means, all of them is EM. Between the two, a few are often as
good as all, at the price of a few. This fits the same rows with each C', from the same
seeds, and compares.
"""

import matplotlib.pyplot as plt

from cprime import KMeans
from cprime.datasets import make_birch_random
from cprime.plots import TruncationDisplay

# %%
# A hundred clusters on a space made for twenty-five: many overlap.

rows = make_birch_random(100, 50, rng=0).data
kmeans = KMeans(100, random_state=0).fit(rows)

# %%
# The likelihood L rises up to C' = 5 and then hardly any more, while the gap to F falls
# by orders of magnitude. At C' = C there is no gap: that is EM.

TruncationDisplay.from_estimator(kmeans, rows).plot()
plt.show()
