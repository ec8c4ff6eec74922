"""DBSCAN at its best: its two parameters are chosen by the truth."""

from typing import Any

import numpy as np
from sklearn.cluster import DBSCAN
from sklearn.neighbors import radius_neighbors_graph, sort_graph_by_row_values

from cprime.experiments import birch
from cprime.experiments.scores import normalized_mutual_information, purity
from cprime.experiments.settings import Setting

RADII = tuple(np.round(np.arange(0.3, 2.125, 0.05), 3).tolist())
NEIGHBOURS = (2, 3, 5, 10, 20, 30, 40, 50, 60)


def setting(kind: str, seed: int) -> Setting:
    """Return the setting of DBSCAN on a BIRCH set."""
    return Setting.of("dbscan", kind=kind, seed=seed)


def seconds(**_: Any) -> float:
    """Return about how long it takes to try all parameters."""
    return 5.0


def run(kind: str, seed: int) -> dict[str, Any]:
    """Return purity and NMI where their sum is highest.

    Rows that DBSCAN calls noise count as one more cluster.
    """
    sample = birch.draw(kind, seed)
    best: dict[str, Any] = {"purity": 0.0, "nmi": 0.0}
    for eps in RADII:
        graph = radius_neighbors_graph(
            sample.data, eps, mode="distance", include_self=True
        )
        graph = sort_graph_by_row_values(graph, warn_when_not_sorted=False)
        for n in NEIGHBOURS:
            fit = DBSCAN(eps=eps, min_samples=n, metric="precomputed").fit(graph)
            found = {
                "purity": purity(sample.labels, fit.labels_),
                "nmi": normalized_mutual_information(sample.labels, fit.labels_),
                "eps": eps,
                "min_samples": n,
            }
            if found["purity"] + found["nmi"] > best["purity"] + best["nmi"]:
                best = found
    return best
