"""
How many clusters?
==================

`AutoMixture` fits every number and shape that may be the answer, and chooses the one
that explains the rows best once its parameters are paid for. The picture shows what was
tried and by how much it is worse than the choice.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from cprime import AutoMixture
from cprime.plots import ChoiceDisplay

# %%
# Chemistry of 178 wines of three cultivars. Clusters that are stretched along the
# columns win by far; three and five of them are worse than four.

wine = StandardScaler().fit_transform(load_wine().data)
ChoiceDisplay.from_estimator(AutoMixture(random_state=0).fit(wine)).plot()
plt.show()

# %%
# Fifteen round clusters. All shapes agree on their number; k-means needs the fewest
# parameters to say it.

rng = np.random.default_rng(3)
centers = rng.uniform(0.0, 60.0, size=(15, 2))
rows = np.concatenate([rng.normal(center, 1.5, size=(200, 2)) for center in centers])
ChoiceDisplay.from_estimator(AutoMixture(random_state=0).fit(rows)).plot()
plt.show()

# %%
# Noise. One cluster is a possible answer.

noise = rng.normal(size=(500, 5))
ChoiceDisplay.from_estimator(AutoMixture(random_state=0).fit(noise)).plot()
plt.show()
