"""What else might have been run on the BIRCH sets: would a verdict notice?

A verdict that stands whatever was run says little. So all that is compared with a
printed number is run in wrong ways too, on the same sets and from the same draws, and
the number is held against each.
"""

from typing import Any

from cprime.experiments import birch
from cprime.experiments.birch import ALGORITHMS, C
from cprime.experiments.ensemble import Ensemble
from cprime.experiments.published import K_MEANS, K_MEANS_C, LAZY
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting

# Other algorithms, from greedy seeds.
OTHER_ALGORITHMS: dict[str, dict[str, Any]] = {
    "EM": {"C_prime": C},
    "lazy, eps 0.5": {"C_prime": 1, "eps": 0.5},
    "lazy, eps 3": {"C_prime": 1, "eps": 3.0},
    "C'=2, sigma^2 held at 4": {"C_prime": 2, "held": 4.0},
}
# The same algorithm, elsewise.
OTHER_RUNS: dict[str, dict[str, Any]] = {
    "plain k-means++": {"seeding": "plain"},
    "random rows": {"seeding": "rows"},
    "clusters 5% wider": {"deviation": 1.05},
}


def ways(name: str) -> dict[str, dict[str, Any]]:
    """Return what is run for a line of Table S1, and all that might be instead.

    The first is right.
    """
    known = {
        of: {"C_prime": C_prime, "eps": eps}
        for of, (C_prime, eps) in ALGORITHMS.items()
    }
    own = known.pop(name)
    return {
        name: own,
        **known,
        **OTHER_ALGORITHMS,
        **{way: own | values for way, values in OTHER_RUNS.items()},
    }


def setting(sets: Ensemble, kind: str, seed: int, values: dict[str, Any]) -> Setting:
    """Return one of those ways on one set."""
    return birch.setting(kind, seed, n_runs=sets.n_runs, **values)


def settings(sets: Ensemble, kind: str) -> list[Setting]:
    """Return all ways, on all sets."""
    return [
        setting(sets, kind, seed, values)
        for seed in range(sets.n_sets)
        for name in (K_MEANS, K_MEANS_C, LAZY)
        for values in ways(name).values()
    ]


def results(
    records: Records, sets: Ensemble, kind: str, values: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return what one way found, set by set."""
    return [records[setting(sets, kind, seed, values)] for seed in range(sets.n_sets)]
