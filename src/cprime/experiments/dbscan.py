"""DBSCAN at its best: its two parameters are chosen by the truth."""

from typing import Any

import numpy as np
from sklearn.cluster import DBSCAN

from cprime.datasets import Sample
from cprime.experiments import birch
from cprime.experiments.scores import normalized_mutual_information, purity
from cprime.experiments.settings import Setting

# All of these are tried, then more radii about the best one.
RADII = tuple(np.geomspace(0.15, 2.5, 18).tolist())
# From two on: with one, all rows alone, each its own cluster, reach a sum of 1.58, more
# than any grouping of rows on the random sets.
NEIGHBOURS = (2, 3, 5, 10, 20, 30, 40, 50, 60, 80, 100)
# Radius and neighbours of scikit-learn's DBSCAN.
DEFAULTS = (0.5, 5)
FINER = (-0.75, -0.5, -0.25, 0.25, 0.5, 0.75)


def setting(kind: str, seed: int) -> Setting:
    """Return the setting of DBSCAN on a BIRCH set."""
    return Setting.of("dbscan", kind=kind, seed=seed)


def seconds(**_: Any) -> float:
    """Return about how long it takes to try all parameters."""
    return 3.0


def run(kind: str, seed: int) -> dict[str, Any]:
    """Return purity and NMI where their sum is highest.

    Rows that DBSCAN calls noise count as one more cluster. `others` has the same where
    the parameters are chosen by something else.
    """
    sample = birch.draw(kind, seed)
    tried = [_tried(sample, eps, n) for eps in RADII for n in NEIGHBOURS]
    best = max(tried, key=_sum)
    step = RADII[1] / RADII[0]
    finer = [
        _tried(sample, best["eps"] * step**part, best["min_samples"]) for part in FINER
    ]
    best = max([best, *finer], key=_sum)
    return {
        **best,
        "is_on_edge": not RADII[0] < best["eps"] < RADII[-1]
        or best["min_samples"] == NEIGHBOURS[-1],
        "has_fewest_neighbours": best["min_samples"] == NEIGHBOURS[0],
        "others": {
            "chosen by purity": max(tried, key=lambda of: of["purity"]),
            "chosen by NMI": max(tried, key=lambda of: of["nmi"]),
            "scikit-learn's defaults": _tried(sample, *DEFAULTS),
            "four neighbours, as in its paper": max(
                (_tried(sample, eps, 4) for eps in RADII), key=_sum
            ),
        },
    }


def _tried(sample: Sample, eps: float, n: int) -> dict[str, Any]:
    labels = DBSCAN(eps=eps, min_samples=n).fit(sample.data).labels_
    return {
        "purity": purity(sample.labels, labels),
        "nmi": normalized_mutual_information(sample.labels, labels),
        "eps": eps,
        "min_samples": n,
    }


def _sum(tried: dict[str, Any]) -> float:
    return float(tried["purity"] + tried["nmi"])
