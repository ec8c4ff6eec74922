"""Are parameters what the constraints of an estimator allow?"""

from functools import cache, lru_cache
from typing import Any

from sklearn.utils._param_validation import validate_parameter_constraints

# Values that never change, so that what is found of them holds.
LASTING = frozenset({bool, int, float, str, type(None)})
# Combinations of parameters that are remembered.
MOST_REMEMBERED = 256


class RememberedChecks:
    """Checks parameters as scikit-learn does, and those it has checked only once."""

    def _validate_params(self) -> None:
        of: Any = type(self)
        values = tuple([getattr(self, name) for name in _names(of)])
        if LASTING.issuperset(map(type, values)):
            _check(of, *values)
        else:
            super()._validate_params()  # type: ignore[misc]


@cache
def _names(of: Any) -> tuple[str, ...]:
    """Return the names of the parameters, which scikit-learn reads off `__init__`."""
    return tuple(of._get_param_names())


# An error is not remembered; 1, 1.0 and True are three values.
@lru_cache(MOST_REMEMBERED, typed=True)
def _check(of: Any, *values: Any) -> None:
    """Raise if a class of estimators may not have these values of its parameters."""
    validate_parameter_constraints(
        of._parameter_constraints, dict(zip(_names(of), values)), of.__name__
    )
