"""How is a mixture fitted to rows of which some values are missing?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.checking import inputs
from cprime.checking.covariances import COVARIANCES
from cprime.kernels import Kernel, get_kernel
from cprime.kernels.missing import Marginal
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import MemoryRows, Rows
from cprime.spread import feature_moments, observed_moments
from cprime.stats import Stats
from cprime.theta import Theta
from cprime.typing import Array

# Covariances for which a missing value says nothing about others of its row.
ALONG_AXES = [name for name, of in COVARIANCES.items() if not of.are_matrices]


class MarginalizingMixin:
    """For estimators with a `missing` that goes with some covariances."""

    missing: str
    covariance_type: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        possible = self.covariance_type in ALONG_AXES
        tags.input_tags.allow_nan = possible and self.missing == "marginalize"
        return tags

    @property
    def _marginalizes(self) -> bool:
        if self.missing == "error":
            return False
        if self.covariance_type not in ALONG_AXES:
            raise ValueError(
                f"missing={self.missing!r} is not supported with covariance_type="
                f"{self.covariance_type!r}: use {', '.join(map(repr, ALONG_AXES))}, or "
                "impute missing values first."
            )
        return True


@dataclass(frozen=True)
class FeatureMoments:
    """What is known of rows before any clusters are.

    Attributes
    ----------
    rows : Rows
        As they are.
    filled : Rows
        With the mean of the feature in place of every missing value; the very same rows
        if none is missing. Fits start from these.
    means, variances : ndarray of shape (D,)
        Of every feature, over the rows that have it.
    """

    rows: Rows
    filled: Rows
    means: Array
    variances: Array

    @classmethod
    def of(cls, estimator: Any, rows: Rows, kernel: Kernel) -> "FeatureMoments":
        """Look at rows that were checked, or name a feature that none of them has."""
        block = rows.block
        if block is None or not inputs.has_missing(block.X):
            return cls(rows, rows, *feature_moments(rows, kernel))
        _refuse_unobserved(estimator, rows)
        means, variances = observed_moments(rows)
        return cls(rows, MemoryRows.of(block.filled(means)), means, variances)


def marginalised(
    filled: Problem, known: FeatureMoments, floor: Array, kernel_name: str
) -> Problem:
    """Return a problem of filled rows as that of the rows as they are.

    Parameters
    ----------
    filled : Problem
        Of a model whose covariances are no matrices.
    known : FeatureMoments
    floor : ndarray of shape (D,)
        The smallest variances allowed.
    kernel_name : str
    """
    if known.rows is known.filled:
        return filled
    model = filled.model
    return _MarginalProblem(
        known.rows,
        _AsSwept(**vars(model)) if isinstance(model, Isotropic) else model,
        filled.search,
        get_kernel(kernel_name, missing=True),
        filled.C_prime,
        Marginal(np.maximum(known.variances, floor)),
    )


@dataclass(frozen=True)
class _MarginalProblem(Problem):
    """A problem whose first hard sweep, about seeds, has a kernel of its own.

    Seeds have unit variance, which says nothing about missing values: it would be huge
    for one feature and nothing for the next. There they vary as the feature does.
    """

    kernel_of_seeds: Kernel

    def sweep_about_seeds(self, means: Array, K: Any = None) -> tuple[Any, Stats]:
        hard = Problem(
            self.rows, self.model, self.search, self.kernel_of_seeds, self.C_prime
        )
        return hard.sweep_about_seeds(means, K)


class _AsSwept(Isotropic):
    """A mixture whose variance is that of the last sweep.

    What is expected of missing values depends on the variance, so one that is settled
    after the sweep would no longer belong to its F.
    """

    def finalize(self, stats: Stats, about: Theta, C_prime: int) -> Theta:
        return about


def _refuse_unobserved(estimator: Any, rows: Rows) -> None:
    """Raise if a feature is missing in every row that has weight."""

    def observed(values: Array, weights: Array) -> Array:
        return np.any(~np.isnan(values[weights > 0]), axis=0)[None]

    unobserved = np.flatnonzero(~rows.of_parts(observed).any(axis=0))
    if len(unobserved) > 0:
        raise ValueError(
            f"Input X has no value at all in {inputs.column(estimator, unobserved[0])} "
            f"({len(unobserved)} such column(s) in all, counting rows of positive "
            "weight): nothing can be learned about it, drop the column."
        )
