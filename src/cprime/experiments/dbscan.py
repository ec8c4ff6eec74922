"""DBSCAN at its best: its two parameters are chosen by the truth."""

from typing import Any

import numpy as np
from sklearn.cluster import DBSCAN

from cprime.experiments import birch
from cprime.experiments.scores import normalized_mutual_information, purity
from cprime.experiments.settings import Setting

RADII = tuple(np.round(np.arange(0.3, 1.525, 0.05), 3).tolist())
NEIGHBOURS = (2, 3, 4, 5, 6, 8, 10, 12, 15)


def setting(kind: str, seed: int) -> Setting:
    """Return the setting of DBSCAN on a BIRCH set."""
    return Setting.of("dbscan", kind=kind, seed=seed)


def run(kind: str, seed: int) -> dict[str, Any]:
    """Return purity and NMI where their sum is highest.

    Rows that DBSCAN calls noise count as one more cluster.
    """
    sample = birch.draw(kind, seed)
    best: dict[str, Any] = {"purity": 0.0, "nmi": 0.0}
    for eps in RADII:
        for n in NEIGHBOURS:
            labels = DBSCAN(eps=eps, min_samples=n).fit(sample.data).labels_
            found = {
                "purity": purity(sample.labels, labels),
                "nmi": normalized_mutual_information(sample.labels, labels),
                "eps": eps,
                "min_samples": n,
            }
            if found["purity"] + found["nmi"] > best["purity"] + best["nmi"]:
                best = found
    return best
