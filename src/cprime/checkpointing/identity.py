"""Is this the fit that was kept?"""

from typing import Any

import numpy as np

from cprime.checking import tables
from cprime.checkpointing import functions
from cprime.storage.fingerprint import fingerprint
from cprime.typing import Array

# Parameters that change nothing about a result.
NO_MATTER = {"verbose", "verbose_interval", "copy_x", "keep_estimators"}


def identity(
    estimator: Any, parameters: dict[str, Any], X: Any, weights: Array
) -> dict[str, Any]:
    """Return what a result depends on, to be kept and compared.

    Parameters
    ----------
    estimator : estimator
    parameters : dict
        Those of the estimator, as `parameters` returns them.
    X : ndarray, CSR matrix or Data
    weights : ndarray of shape (N,)
    """
    return {
        "class": type(estimator).__name__,
        "parameters": parameters,
        "rows": [int(n) for n in X.shape],
        "values": fingerprint(X),
        # Weights nobody gave are one number, seen as many.
        "sample_weight": fingerprint(weights[:1] if _all_one(weights) else weights),
    }


def parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters a result depends on, as something that can be compared."""
    found = {}
    for name, value in estimator.get_params(deep=False).items():
        if name in NO_MATTER:
            continue
        if isinstance(value, np.generic):
            value = value.item()
        elif isinstance(value, np.random.RandomState):
            # Where it stands is kept beside.
            value = "a RandomState"
        elif callable(value):
            value = functions.identity_of(name, value)
        elif name == "shapes":
            value = value if isinstance(value, str) else [str(v) for v in value]
        elif not (value is None or isinstance(value, bool | int | float | str)):
            value = np.asarray(tables.dense(value, name), dtype=np.float64)
        found[name] = value
    return found


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return in words what of a fit has changed."""
    if before["class"] != now["class"]:
        return [f"the estimator was a {before['class']!r:.40} and is a {now['class']}"]
    params = before["parameters"]
    if not isinstance(params, dict):
        raise ValueError("it does not say with which parameters it was written")
    found = [
        difference(name, params.get(name), now["parameters"].get(name))
        for name in sorted(params.keys() | now["parameters"].keys())
    ]
    if before["rows"] != now["rows"]:
        found.append(f"X had shape {before['rows']!r:.60} and now has {now['rows']}")
    elif before["values"] != now["values"]:
        found.append("X has different values")
    if before["sample_weight"] != now["sample_weight"]:
        found.append("sample_weight has different values")
    return found


def difference(name: str, old: Any, new: Any) -> str:
    """Return in words that a value has changed; nothing if it has not."""
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        return "" if np.array_equal(old, new) else f"{name} has different values"
    if type(old) is type(new) and old == new:
        return ""
    if isinstance(old, dict) and isinstance(new, dict):
        return functions.difference(name, old, new)
    return f"{name} was {_told(old)} and is now {_told(new)}"


def _all_one(weights: Array) -> bool:
    # Those of rows on a cluster have a fingerprint of their own.
    return getattr(weights, "strides", None) == (0,) and bool(weights[0] == 1.0)


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return f"the function {value.get('function')!r:.60}"
    return "an array" if isinstance(value, np.ndarray) else f"{value!r:.60}"
