"""How do fits to a sample compare with those to all rows?"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cprime.typing import Array

Key = tuple[Any, ...]


def comparable(results: Mapping[str, Array], criterion: str) -> Array:
    """Return a criterion of all fits as if they had been to all rows, shape (M,).

    Those to a sample describe it better than other rows, by one nat a parameter. What
    the sample itself is better or worse than all rows shows in fits to both.

    Parameters
    ----------
    results : mapping of ndarray of shape (M,)
        `results_` of an `AutoMixture`.
    criterion : str
        Which of its columns.
    """
    value, weight = results[criterion], results["weight"]
    of_all = weight == weight.max()
    if of_all.all():
        return value
    larger = weight.max() / weight
    projected = value * larger
    if criterion != "held_out":
        n_parameters, price = results["n_parameters"], results["price"]
        misfit = value - price + 2.0 * n_parameters
        projected = misfit * larger + price + n_parameters * np.log(larger)
    finals = {key: value[i] for i, key in enumerate(_keys(results)) if of_all[i]}
    offsets = [
        finals[key] - projected[i]
        for i, key in enumerate(_keys(results))
        if key in finals and not of_all[i]
    ]
    projected = projected + (np.median(offsets) if offsets else 0.0)
    found: Array = np.where(of_all, value, projected)
    return found


def last_word(results: Mapping[str, Array]) -> Array:
    """Return which fits are the last word on their shape and number of clusters.

    The chosen one, else one to all rows, else one to a sample.
    """
    keys, seen, kept = _keys(results), set(), []
    for i in np.lexsort((~results["chosen"], -results["weight"])).tolist():
        if keys[i] not in seen:
            seen.add(keys[i])
            kept.append(i)
    return np.array(sorted(kept))


def _keys(results: Mapping[str, Array]) -> list[Key]:
    names = ("shape", "equal_weights", "n_clusters")
    return list(zip(*(results[name].tolist() for name in names)))
