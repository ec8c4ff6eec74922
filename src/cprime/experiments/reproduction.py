"""Run what has not been run, and say how far it is."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from cprime.experiments import (
    birch,
    dbscan,
    formulas,
    overfitting,
    protein,
    seven,
    stiffness,
)
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting

RUNNERS: dict[str, Callable[..., dict[str, Any]]] = {
    "birch": birch.run,
    "dbscan": dbscan.run,
    "formulas": formulas.run,
    "overfitting": overfitting.run,
    "protein": protein.run,
    "seven": seven.run,
    "stiffness": stiffness.run,
}


def missing(settings: Iterable[Setting], records: Records) -> list[Setting]:
    """Return the settings without a result, each once, in order."""
    return [s for s in dict.fromkeys(settings) if s not in records]


def run(settings: Iterable[Setting], records: Records) -> Iterator[Setting]:
    """Run settings one by one, noting each result; yield each when it is done."""
    for setting in settings:
        start = time.perf_counter()
        result = RUNNERS[setting.runner](**dict(setting.values))
        records.add(setting, result, time.perf_counter() - start)
        yield setting
