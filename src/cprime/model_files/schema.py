"""What does a model file hold of a fit, and what must be true of it to be used?"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.checking.covariances import COVARIANCES

# Weights of float32, rounded one by one, sum to one within this, and matrices are
# symmetric.
ROUNDED = 1e-4
# Ours have a few words.
LONGEST_TEXT = 200


@dataclass(frozen=True)
class Sizes:
    """How many clusters and features a fit has, and what its covariances are."""

    C: int
    D: int
    covariance_type: str = "isotropic"


Shape = Callable[[Sizes], tuple[int, ...]]
# Whether a value can be what it is said to be.
Rule = Callable[[Any, Sizes], bool]


def _number(least: float = -math.inf, *, above: bool = False) -> Rule:
    def holds(value: Any, sizes: Sizes) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            return False
        value = float(value)
        return math.isfinite(value) and (value > least if above else value >= least)

    return holds


def _whole(least: int, most: Callable[[Sizes], float] = lambda sizes: math.inf) -> Rule:
    def holds(value: Any, sizes: Sizes) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            return False
        return least <= int(value) <= most(sizes)

    return holds


def _exactly(wanted: Callable[[Sizes], int]) -> Rule:
    def holds(value: Any, sizes: Sizes) -> bool:
        return _whole(1)(value, sizes) and int(value) == wanted(sizes)

    return holds


def _floats(shape: Shape, above: float = -math.inf, least: float = -math.inf) -> Rule:
    """Return a rule of finite arrays; of shape () it may be a number."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, np.ndarray | float | np.floating):
            return False
        array = np.asarray(value)
        return (
            array.dtype in (np.float32, np.float64)
            and array.shape == shape(sizes)
            and bool(np.isfinite(array).all())
            and bool((array > above).all() and (array >= least).all())
        )

    return holds


def _truth(value: Any, sizes: Sizes) -> bool:
    return isinstance(value, bool | np.bool_)


def _clusters(value: Any, sizes: Sizes) -> bool:
    within = _whole(0, lambda sizes: sizes.C - 1)
    return isinstance(value, list) and all(within(cluster, sizes) for cluster in value)


def _line(value: Any, sizes: Sizes) -> bool:
    finite = _number()
    return isinstance(value, list) and all(finite(number, sizes) for number in value)


def _history(value: Any, sizes: Sizes) -> bool:
    """Return whether these are columns of one length."""
    if not (isinstance(value, dict) and value):
        return False
    columns = list(value.values())
    if not all(isinstance(column, np.ndarray) for column in columns):
        return False
    numbers = all(column.dtype.kind in "fiub" for column in columns)
    shapes = {column.shape for column in columns}
    return numbers and len(shapes) == 1 and len(columns[0].shape) == 1


def _path(value: Any, sizes: Sizes) -> bool:
    is_line = isinstance(value, np.ndarray) and value.ndim == 1 and len(value) > 0
    return is_line and _floats(lambda sizes: value.shape, above=0.0)(value, sizes)


def _names(value: Any, sizes: Sizes) -> bool:
    is_text = isinstance(value, np.ndarray) and value.dtype == object
    return is_text and value.shape == (sizes.D,)


def _proportions(value: Any, sizes: Sizes) -> bool:
    if not _floats(lambda sizes: (sizes.C,))(value, sizes):
        return False
    total = float(np.sum(value, dtype=np.float64))
    return bool(np.min(value) >= 0.0) and abs(total - 1.0) <= ROUNDED


def _of_covariances(value: Any, sizes: Sizes) -> bool:
    of = COVARIANCES[sizes.covariance_type]
    least = -math.inf if of.are_matrices else 0.0
    return _floats(lambda sizes: of.shape(sizes.C, sizes.D), least)(value, sizes)


def _covariances(value: Any, sizes: Sizes) -> bool:
    if not _of_covariances(value, sizes):
        return False
    if not COVARIANCES[sizes.covariance_type].are_matrices:
        return True
    try:
        np.linalg.cholesky(value)
    except np.linalg.LinAlgError:
        return False
    turned = np.swapaxes(value, -1, -2)
    return bool(np.all(np.abs(value - turned) <= ROUNDED * np.abs(value).max()))


def _covariance_type(value: Any, sizes: Sizes) -> bool:
    return isinstance(value, str) and value in COVARIANCES


def _nothing(value: Any, sizes: Sizes) -> bool:
    return value is None


def _text(value: Any, sizes: Sizes) -> bool:
    # It may become part of a message.
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and value.isprintable()


def _either(*rules: Rule) -> Rule:
    return lambda value, sizes: any(rule(value, sizes) for rule in rules)


def _record(**rules: Rule) -> Rule:
    """Return a rule of values with exactly these names."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if not (isinstance(value, dict) and value.keys() == rules.keys()):
            return False
        return all(rule(value[name], sizes) for name, rule in rules.items())

    return holds


def _power_of_two(value: Any, sizes: Sizes) -> bool:
    return _number(0.0, above=True)(value, sizes) and math.frexp(value)[0] == 0.5


_EVERY_FEATURE = _floats(lambda sizes: (sizes.C, sizes.D))
# What `partial_fit` goes on from: see `kept_stream`.
_STREAM = _record(
    memory=_record(
        theta=_record(
            means=_EVERY_FEATURE,
            covariance=_number(0.0, above=True),
            proportions=_nothing,
        ),
        stats=_either(
            _nothing,
            _record(
                counts=_floats(lambda sizes: (sizes.C,), least=0.0),
                shifts=_EVERY_FEATURE,
                scatter=_number(0.0),
                quantization_error=_number(0.0),
                entropy=_number(),
                free_energy=_number(),
                weight=_number(0.0, above=True),
                evaluations=_whole(0),
                changed=_whole(0),
            ),
        ),
        n_batches=_whole(0),
        weight=_number(0.0),
    ),
    overall=_record(
        means=_either(_floats(lambda sizes: (1, sizes.D)), _EVERY_FEATURE),
        covariance=_number(0.0),
        proportions=_nothing,
    ),
    units=_record(scale=_power_of_two, weight_scale=_power_of_two, extreme=_text),
    n_rows=_whole(0),
)

# Attributes of fits, of any estimator: what is not named here is not kept.
RULES: dict[str, Rule] = {
    "cluster_centers_": _EVERY_FEATURE,
    "means_": _EVERY_FEATURE,
    "weights_": _proportions,
    "covariances_": _covariances,
    "precisions_": _of_covariances,
    "precisions_cholesky_": _of_covariances,
    "variance_": _number(0.0, above=True),
    "stiffness_": _number(0.0, above=True),
    "stiffness_path_": _path,
    "lam_": _number(0.0, above=True),
    "_spread": _number(0.0, above=True),
    "inertia_": _number(0.0),
    "objective_": _number(),
    "free_energy_": _number(),
    "lower_bound_": _number(),
    "log_likelihood_": _number(),
    "gap_": _number(0.0),
    "gap_standard_error_": _number(0.0),
    "n_iter_": _whole(0),
    "evaluations_": _whole(0),
    "n_relocations_": _whole(0),
    "n_missed_": _whole(0),
    "converged_": _truth,
    "seeding_": _text,
    "n_steps_": _whole(0),
    "n_samples_seen_": _whole(0),
    "_stream_": _STREAM,
    "trace_": _history,
    "restarts_": _history,
    "lower_bounds_": _line,
    "_relocated": _clusters,
    "_floored": _clusters,
    "_empty": _clusters,
    "_covariance_type": _covariance_type,
    "_expected": _number(),
    "_C_prime": _whole(1, lambda sizes: sizes.C),
    "_n_free": _whole(0),
    "_n_features_out": _exactly(lambda sizes: sizes.C),
    "n_features_in_": _exactly(lambda sizes: sizes.D),
    "feature_names_in_": _names,
}


def sizes_of(fitted: dict[str, Any]) -> Sizes:
    """Return the sizes of a fit, or say what of it tells none."""
    name = "means_" if "means_" in fitted else "cluster_centers_"
    centers = fitted.get(name)
    if not (isinstance(centers, np.ndarray) and centers.ndim == 2 and centers.size):
        raise ValueError(f"{name} is missing, or not clusters by features")
    covariance_type = fitted.get("_covariance_type", "isotropic")
    if not _covariance_type(covariance_type, Sizes(0, 0)):
        raise ValueError(f"_covariance_type is none there is: {covariance_type!r:.60}")
    C, D = centers.shape
    return Sizes(C, D, covariance_type)


def refuse_impossible(fitted: dict[str, Any], needed: set[str]) -> None:
    """Raise if attributes do not fit together, or if one that is needed is missing."""
    for name in sorted(needed - fitted.keys()):
        raise ValueError(f"{name} is missing, without which there are no predictions")
    sizes = sizes_of(fitted)
    for name, value in fitted.items():
        if not RULES[name](value, sizes):
            raise ValueError(
                f"{name} cannot be that of {sizes.C} clusters of {sizes.D} features: "
                + " ".join(f"{value!r:.60}".split())
            )
