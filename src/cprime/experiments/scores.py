"""How well do labels agree with the truth? (Manning, Raghavan & Schuetze 2008)"""

import numpy as np

from cprime.typing import Array


def purity(truth: Array, labels: Array) -> float:
    """Return the share of rows in the class that is most frequent in their cluster."""
    return float(_counts(truth, labels).max(axis=0).sum() / len(labels))


def normalized_mutual_information(truth: Array, labels: Array) -> float:
    """Return 2 I(truth; labels) / (H(truth) + H(labels)), 0 if both are constant."""
    joint = _counts(truth, labels) / len(labels)
    of_truth, of_labels = joint.sum(axis=1), joint.sum(axis=0)
    entropies = _entropy(of_truth) + _entropy(of_labels)
    if entropies == 0.0:
        return 0.0
    return 2.0 * (entropies - _entropy(joint.ravel())) / entropies


def _counts(truth: Array, labels: Array) -> Array:
    """Return how many rows each class has in each cluster."""
    classes, of_class = np.unique(truth, return_inverse=True)
    clusters, of_cluster = np.unique(labels, return_inverse=True)
    counts = np.zeros((len(classes), len(clusters)))
    np.add.at(counts, (of_class, of_cluster), 1.0)
    return counts


def _entropy(shares: Array) -> float:
    shares = shares[shares > 0]
    return float(-np.sum(shares * np.log(shares)))
