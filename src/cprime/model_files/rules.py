"""Can a value in a model file be what it is said to be?"""

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


def number(least: float = -math.inf, *, above: bool = False) -> Rule:
    """Return a rule of finite numbers, from `least` on or above it."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            return False
        value = float(value)
        return math.isfinite(value) and (value > least if above else value >= least)

    return holds


def whole(least: int, most: Callable[[Sizes], float] = lambda sizes: math.inf) -> Rule:
    """Return a rule of whole numbers."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            return False
        return least <= int(value) <= most(sizes)

    return holds


def exactly(wanted: Callable[[Sizes], int]) -> Rule:
    """Return a rule of one whole number."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return whole(1)(value, sizes) and int(value) == wanted(sizes)

    return holds


def floats(shape: Shape, above: float = -math.inf, least: float = -math.inf) -> Rule:
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


def truth(value: Any, sizes: Sizes) -> bool:
    """Return whether this is a truth value."""
    return isinstance(value, bool | np.bool_)


def clusters(value: Any, sizes: Sizes) -> bool:
    """Return whether these are indices of clusters."""
    within = whole(0, lambda sizes: sizes.C - 1)
    return isinstance(value, list) and all(within(cluster, sizes) for cluster in value)


def line(value: Any, sizes: Sizes) -> bool:
    """Return whether these are finite numbers."""
    finite = number()
    return isinstance(value, list) and all(finite(number, sizes) for number in value)


def history(value: Any, sizes: Sizes) -> bool:
    """Return whether these are columns of one length."""
    if not (isinstance(value, dict) and value):
        return False
    columns = list(value.values())
    if not all(isinstance(column, np.ndarray) for column in columns):
        return False
    numbers = all(column.dtype.kind in "fiub" for column in columns)
    shapes = {column.shape for column in columns}
    return numbers and len(shapes) == 1 and len(columns[0].shape) == 1


def path(value: Any, sizes: Sizes) -> bool:
    """Return whether these are positive numbers in a row."""
    is_line = isinstance(value, np.ndarray) and value.ndim == 1 and len(value) > 0
    return is_line and floats(lambda sizes: value.shape, above=0.0)(value, sizes)


def names(value: Any, sizes: Sizes) -> bool:
    """Return whether there is a name for every feature."""
    is_text = isinstance(value, np.ndarray) and value.dtype == object
    return is_text and value.shape == (sizes.D,)


def proportions(value: Any, sizes: Sizes) -> bool:
    """Return whether these are shares of all clusters."""
    if not floats(lambda sizes: (sizes.C,))(value, sizes):
        return False
    total = float(np.sum(value, dtype=np.float64))
    return bool(np.min(value) >= 0.0) and abs(total - 1.0) <= ROUNDED


def of_covariances(value: Any, sizes: Sizes) -> bool:
    """Return whether numbers have the shape of covariances."""
    of = COVARIANCES[sizes.covariance_type]
    least = -math.inf if of.are_matrices else 0.0
    return floats(lambda sizes: of.shape(sizes.C, sizes.D), least)(value, sizes)


def covariances(value: Any, sizes: Sizes) -> bool:
    """Return whether these are covariances as a user sees them."""
    if not of_covariances(value, sizes):
        return False
    if not COVARIANCES[sizes.covariance_type].are_matrices:
        return True
    try:
        np.linalg.cholesky(value)
    except np.linalg.LinAlgError:
        return False
    turned = np.swapaxes(value, -1, -2)
    return bool(np.all(np.abs(value - turned) <= ROUNDED * np.abs(value).max()))


def covariance_type(value: Any, sizes: Sizes) -> bool:
    """Return whether this is a type of covariance."""
    return isinstance(value, str) and value in COVARIANCES


def nothing(value: Any, sizes: Sizes) -> bool:
    """Return whether there is nothing."""
    return value is None


def text(value: Any, sizes: Sizes) -> bool:
    """Return whether this is a short line of text."""
    # It may become part of a message.
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and value.isprintable()


def either(*rules: Rule) -> Rule:
    """Return a rule that one of several holds."""
    return lambda value, sizes: any(rule(value, sizes) for rule in rules)


def record(**rules: Rule) -> Rule:
    """Return a rule of values with exactly these names."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if not (isinstance(value, dict) and value.keys() == rules.keys()):
            return False
        return all(rule(value[name], sizes) for name, rule in rules.items())

    return holds


def power_of_two(value: Any, sizes: Sizes) -> bool:
    """Return whether this is a power of two."""
    return number(0.0, above=True)(value, sizes) and math.frexp(value)[0] == 0.5


EVERY_FEATURE = floats(lambda sizes: (sizes.C, sizes.D))


def kept_covariances(value: Any, sizes: Sizes) -> bool:
    """Return whether covariances are in the shape a computation has them in."""
    if not of_kept_shape(value, sizes):
        return False
    if not COVARIANCES[sizes.covariance_type].are_matrices:
        return bool(np.all(np.asarray(value) > 0.0))
    try:
        np.linalg.cholesky(value)
    except np.linalg.LinAlgError:
        return False
    return True


def of_kept_shape(value: Any, sizes: Sizes) -> bool:
    """Return whether numbers are in that shape, none of a diagonal negative."""
    of = COVARIANCES[sizes.covariance_type]
    shape = of.kept_shape(sizes.C, sizes.D)
    if shape == ():
        return number(0.0)(value, sizes)
    if not of.are_matrices:
        return floats(lambda sizes: shape, least=0.0)(value, sizes)
    is_right = floats(lambda sizes: shape, least=-math.inf)(value, sizes)
    return is_right and bool(np.all(np.diagonal(value, axis1=-2, axis2=-1) >= 0.0))
