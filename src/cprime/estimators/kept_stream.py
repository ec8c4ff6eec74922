"""What of a stream is kept in a file, so that it goes on to the same bits?"""

from dataclasses import fields
from typing import Any

import numpy as np

from cprime.estimators.stepwise import Stream
from cprime.estimators.units import Units
from cprime.stats import Stats
from cprime.stepwise import Memory
from cprime.theta import Theta

OF_STATS = tuple(field.name for field in fields(Stats))
NUMBERS = (
    *("variance", "overall_variance", "weight", "scale", "weight_scale"),
    *("n_batches", "n_rows"),
)


def plain(stream: Stream) -> dict[str, Any]:
    """Return all of a stream in arrays and numbers."""
    memory, overall, units = stream.memory, stream.overall, stream.units
    return {
        "means": memory.theta.means,
        "variance": float(memory.theta.covariance),
        "stats": None if memory.stats is None else dict(vars(memory.stats)),
        "n_batches": memory.n_batches,
        "weight": memory.weight,
        "overall_means": overall.means,
        "overall_variance": float(overall.covariance),
        "scale": units.scale,
        "weight_scale": units.weight_scale,
        "n_rows": stream.n_rows,
    }


def restored(kept: dict[str, Any]) -> Stream:
    """Return the stream of which these are all arrays and numbers."""
    stats = kept["stats"]
    memory = Memory(
        Theta(kept["means"], kept["variance"]),
        None if stats is None else Stats(**stats),
        kept["n_batches"],
        kept["weight"],
    )
    overall = Theta(kept["overall_means"], kept["overall_variance"])
    return Stream(
        memory, overall, Units(kept["scale"], kept["weight_scale"]), kept["n_rows"]
    )


def is_possible(kept: Any, C: int, D: int) -> bool:
    """Return whether this can be what is kept of a stream of so many clusters."""
    names = {*NUMBERS, "means", "overall_means", "stats"}
    if not (isinstance(kept, dict) and kept.keys() == names):
        return False
    numbers = all(_is_number(kept[name]) for name in NUMBERS)
    means = _is_array(kept["means"], (C, D))
    if not (numbers and means and _is_array(kept["overall_means"], (1, D))):
        return False
    positive = ("variance", "scale", "weight_scale")
    if not all(kept[name] > 0 for name in positive):
        return False
    return kept["stats"] is None or _are_statistics(kept["stats"], C, D)


def _are_statistics(kept: Any, C: int, D: int) -> bool:
    if not (isinstance(kept, dict) and kept.keys() == set(OF_STATS)):
        return False
    arrays = {"counts": (C,), "shifts": (C, D)}
    return all(
        _is_array(kept[name], arrays[name])
        if name in arrays
        else _is_number(kept[name])
        for name in OF_STATS
    )


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return False
    return bool(np.isfinite(value))


def _is_array(value: Any, shape: tuple[int, ...]) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.shape == shape
        and bool(np.isfinite(value).all())
    )
