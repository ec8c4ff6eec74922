"""Which cluster should be split next, and should any?

Functions of what is known of the best split of one cluster: the nats it gains, by how
many two clusters describe its rows alone better than one once they are paid for, and
where these rows, with their weights, lie on the line through the two means. The highest
is split; none that is -inf.
"""

import math
from collections.abc import Callable

import numpy as np

from cprime.typing import Array

# Anderson and Darling's statistic of rows from a Gaussian is higher with a probability
# of 0.0001, as in G-means.
NOT_GAUSSIAN = 1.8692
# Probabilities are taken to be this far from 0 and 1: logarithms are then numbers.
NEXT_TO_NOTHING = 1e-300

Proposer = Callable[[float, float, Array, Array], float]


def by_gain(gain: float, evidence: float, places: Array, weights: Array) -> float:
    """Return what the split gains: some cluster is always proposed."""
    return gain


def x_means(gain: float, evidence: float, places: Array, weights: Array) -> float:
    """Return what is gained where, by BIC, two clusters describe these rows better.

    D. Pelleg and A. Moore, "X-means: Extending k-means with efficient estimation of the
    number of clusters", ICML 2000.
    """
    return gain if evidence > 0 else -math.inf


def g_means(gain: float, evidence: float, places: Array, weights: Array) -> float:
    """Return what is gained where these rows, on this line, are not Gaussian.

    G. Hamerly and C. Elkan, "Learning the k in k-means", NIPS 2003.
    """
    return gain if anderson_darling(places, weights) > NOT_GAUSSIAN else -math.inf


def anderson_darling(places: Array, weights: Array) -> float:
    """Return how far numbers are from Gaussian, mean and variance being their own.

    A weight of 2 is a number given twice.
    """
    total = float(np.sum(weights))
    steps = places - weights @ places / total
    variance = float(weights @ steps**2) / max(total - 1.0, 1.0)
    if not variance > 0:
        return 0.0
    order = np.argsort(steps, kind="stable")
    z = steps[order] / math.sqrt(2.0 * variance)
    last = np.cumsum(weights[order])
    first = last - weights[order]
    below = np.array([0.5 * math.erfc(-value) for value in z])
    above = np.array([0.5 * math.erfc(value) for value in z])
    logs = np.log(np.maximum([below, above], NEXT_TO_NOTHING))
    ranks = last**2 - first**2, (total - first) ** 2 - (total - last) ** 2
    found = -total - (ranks[0] @ logs[0] + ranks[1] @ logs[1]) / total
    return float(found * (1.0 + 4.0 / total - 25.0 / total**2))


PROPOSERS: dict[str, Proposer] = {
    "gain": by_gain,
    "x-means": x_means,
    "g-means": g_means,
}
