"""How is a StandardScaler in front of an estimator kept?"""

from copy import copy
from typing import Any

import numpy as np

from cprime.typing import Array

PARAMETERS = ("copy", "with_mean", "with_std")
PER_FEATURE = ("mean_", "var_", "scale_")
LONGEST_NAME = 200
FITTED = (*PER_FEATURE, "n_samples_seen_", "n_features_in_", "feature_names_in_")


def is_pipeline(estimator: Any) -> bool:
    """Return whether this is a Pipeline of scikit-learn."""
    from sklearn.pipeline import Pipeline

    return isinstance(estimator, Pipeline)


def taken_apart(pipeline: Any) -> tuple[Any, Any]:
    """Return the scaler and what follows it, or say why it cannot be saved."""
    from sklearn.preprocessing import StandardScaler

    steps = [step for _, step in pipeline.steps]
    if not (len(steps) == 2 and type(steps[0]) is StandardScaler):
        kinds = ", ".join(type(step).__name__ for step in steps)
        raise TypeError(
            f"A Pipeline of {kinds} cannot be saved to a model file, only one of a "
            "StandardScaler and one of cprime's estimators."
        )
    return steps[0], steps[1]


def known_of(scaler: Any, n_features: int) -> dict[str, Any]:
    """Return what is kept of a fitted scaler, or say what is wrong with it."""
    fitted = {name: v for name, v in vars(scaler).items() if name in FITTED}
    known = {**{name: getattr(scaler, name) for name in PARAMETERS}, **fitted}
    _rebuilt(known, n_features)
    return known


def put_together(known: dict[str, Any], estimator: Any, steps: Any) -> Any:
    """Return a Pipeline of a scaler that is known and an estimator."""
    from sklearn.pipeline import Pipeline

    scaler = _rebuilt(known, estimator.n_features_in_)
    return Pipeline(list(zip(checked_steps(steps), (scaler, estimator), strict=True)))


def checked_steps(steps: Any) -> list[str]:
    """Return the names of the two steps of a pipeline, or say that they are none."""
    if not (
        isinstance(steps, list)
        and len(steps) == 2
        and all(isinstance(name, str) and name.isidentifier() for name in steps)
        and max(len(name) for name in steps) <= LONGEST_NAME
        and steps[0] != steps[1]
    ):
        raise ValueError(
            f"the steps of its pipeline do not have two valid names: {steps!r:.60}"
        )
    return steps


def _rebuilt(known: dict[str, Any], n_features: int) -> Any:
    from sklearn.preprocessing import StandardScaler

    if known.keys() - {*PARAMETERS, *FITTED}:
        raise ValueError("its scaler has attributes that a StandardScaler has not")
    params = {name: known.get(name) for name in PARAMETERS}
    if not all(isinstance(value, bool) for value in params.values()):
        raise ValueError("its scaler has parameters of the wrong type")
    for name in PER_FEATURE:
        values = known.get(name)
        needed = name == "scale_" and params["with_std"]
        needed = needed or (name == "mean_" and params["with_mean"])
        if not (_is_per_feature(values, n_features) or (values is None and not needed)):
            raise ValueError(f"{name} of its scaler is not {n_features} finite numbers")
    if params["with_std"] and not np.all(known["scale_"] > 0.0):
        raise ValueError("scale_ of its scaler is not positive")
    if type(known.get("n_features_in_")) is not int or (
        known["n_features_in_"] != n_features
    ):
        raise ValueError(f"its scaler was not fitted to {n_features} features")
    names = known.get("feature_names_in_")
    if "feature_names_in_" in known and not (
        isinstance(names, np.ndarray)
        and names.dtype == object
        and names.shape == (n_features,)
    ):
        raise ValueError(f"its scaler does not have {n_features} feature names")
    seen = known.get("n_samples_seen_", 1)
    if not isinstance(seen, int | float | np.number | np.ndarray):
        raise ValueError("n_samples_seen_ of its scaler is not a number")
    scaler = StandardScaler(**params)
    vars(scaler).update({name: known[name] for name in FITTED if name in known})
    return scaler


def _is_per_feature(values: Any, n_features: int) -> bool:
    array: Array = np.asarray(values)
    return (
        isinstance(values, np.ndarray)
        and array.dtype in (np.float32, np.float64)
        and array.shape == (n_features,)
        and bool(np.isfinite(array).all())
    )


def behind(data: Any, estimator: Any) -> Any:
    """Return a Pipeline that scales rows as these data are scaled, then asks.

    Parameters
    ----------
    data : Data
        With a shift and a scale.
    estimator : estimator
        Fitted to them.
    """
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    known = {
        "mean_": data.shift,
        "scale_": data.scale,
        "var_": data.scale**2,
        "n_samples_seen_": data.n_rows,
        "n_features_in_": data.n_features,
    }
    if data.names is not None:
        known["feature_names_in_"] = np.array(data.names, dtype=object)
    scaler, inner = StandardScaler(), copy(estimator)
    vars(scaler).update(known)
    # It is asked about arrays, which have no names.
    vars(inner).pop("feature_names_in_", None)
    return Pipeline([("scale", scaler), ("cluster", inner)])
