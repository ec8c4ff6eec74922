"""Parameters a person wants a fit to start from."""

from dataclasses import dataclass, replace
from typing import Any

from cprime.theta import Theta
from cprime.typing import Array


@dataclass(frozen=True)
class Given:
    """Some parameters of a mixture; None is left to the model.

    Attributes
    ----------
    means : ndarray of shape (C, D), optional
    covariance : in the shape of the model, optional
    proportions : ndarray of shape (C,), optional
    """

    means: Array | None = None
    covariance: Any = None
    proportions: Array | None = None

    def over(self, theta: Theta) -> Theta:
        """Return theta with what is given in its place."""
        names = ("means", "covariance", "proportions")
        given = {name: getattr(self, name) for name in names}
        return replace(theta, **{n: v for n, v in given.items() if v is not None})


NOTHING = Given()
