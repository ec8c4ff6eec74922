"""What is to be said of a row: its cluster, how sure, which else, and how odd it is."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammainc

from cprime.checking import inputs
from cprime.checking.units import Units
from cprime.kernels import (
    JOINTS_AT_ONCE,
    Kernel,
    get_kernel,
)
from cprime.models import Distortion
from cprime.rows import is_dask_data
from cprime.sources import Data
from cprime.theta import Coefficients
from cprime.truncation import Truncated, label_first
from cprime.typing import Array

# What every row and cluster takes on the way, of the memory of the data: little of it.
BYTES_OF_A_JOINT = 256


@dataclass(frozen=True)
class Predictions:
    """What a fitted estimator says of rows, one entry each.

    Attributes
    ----------
    label : ndarray of int32
        The most likely cluster, as `predict` says.
    probability : ndarray of float64
        Of that cluster, as `predict_proba` says.
    runner_up : ndarray of int32
        The cluster that comes second; -1 if there is only one.
    log_density : ndarray of float64, or None
        As `score_samples` says, in nats. None for fuzzy k-means without a density.
    outlier_score : ndarray of float64, or None
        The share of the own cluster's rows that lie closer to its centre, were it the
        Gaussian of the model: 0 is typical, near 1 is an outlier.
    """

    label: Array
    probability: Array
    runner_up: Array
    log_density: Array | None
    outlier_score: Array | None


def predictions(estimator: Any, data: Data) -> Iterator[tuple[int, Predictions]]:
    """Yield the first row of every block of rows, and what there is to say of them.

    Parameters
    ----------
    estimator : estimator
        Fitted; its columns are those of `data`, in the same order.
    data : Data or DaskData
    """
    if is_dask_data(data):
        yield from _of_chunks(estimator, data)
        return
    oracle = _Oracle.of(estimator)
    joints = min(JOINTS_AT_ONCE, data.memory // BYTES_OF_A_JOINT)
    at_once = max(1, joints // len(oracle.coefficients.means))
    for start, values in data.blocks():
        oracle.check(values, start, data)
        parts = [
            oracle.of_rows(values[i : i + at_once])
            for i in range(0, len(values), at_once)
        ]
        yield start, _concatenated(parts)


def _of_chunks(estimator: Any, data: Any) -> Iterator[tuple[int, Predictions]]:
    """Yield the same of rows on a cluster, whose workers say it."""
    data = inputs.checked_data(estimator, data, reset=False)
    oracle, start = _Oracle.of(estimator), 0
    at_once = max(1, JOINTS_AT_ONCE // len(oracle.coefficients.means))

    def of_chunk(values: Array) -> Predictions | None:
        parts = [
            oracle.of_rows(values[i : i + at_once])
            for i in range(0, len(values), at_once)
        ]
        return _concatenated(parts) if parts else None

    for found in data.each_chunk(of_chunk):
        if found is not None:
            yield start, found
            start += len(found.label)


@dataclass(frozen=True)
class _Oracle:
    """A fitted model, ready for rows.

    Attributes
    ----------
    estimator : estimator
    coefficients : Coefficients
        In computing units.
    units : Units
    has_density : bool
    """

    estimator: Any
    coefficients: Coefficients
    units: Units
    has_density: bool

    @classmethod
    def of(cls, estimator: Any) -> "_Oracle":
        model, theta = estimator._mixture()
        inputs.refuse_impossible(theta)
        spread = math.sqrt(float(np.max(np.abs(theta.covariance))))
        units = Units.of(max(float(np.abs(theta.means).max()), spread), 1.0)
        scaled = replace(
            theta,
            means=units.means_in(theta.means),
            covariance=units.covariance_in(theta.covariance),
        )
        has_density = not isinstance(model, Distortion)
        return cls(estimator, model.coefficients(scaled), units, has_density)

    def check(self, values: Array, start: int, data: Data) -> None:
        """Raise if there is a value among these that rows must not have."""
        missing = self.estimator._marginalizes
        largest = inputs.magnitude(values) if missing else inputs.largest(values)
        if math.isfinite(largest):
            return
        wrong = np.isinf if missing else lambda held: ~np.isfinite(held)
        row, column, value, _ = inputs.first(values, wrong)
        name = str(column) if data.names is None else repr(data.names[column])
        place = data.place_of(start + row).capitalize()
        raise ValueError(
            f"{place} of {data.origin} holds {value} in column {name}: drop "
            "such rows, or fill in what is missing."
        )

    def of_rows(self, values: Array) -> Predictions:
        C, D = self.coefficients.means.shape
        if self.units.scale != 1.0:
            values = values * self.units.scale
        n_missing = np.count_nonzero(np.isnan(values), axis=1)
        kernel = self._kernel(n_missing)
        kept = kernel.posterior(values, self.coefficients, C)
        labels, second = kept.K[:, 0], np.full(len(values), -1, dtype=np.int32)
        if C > 1:
            second = kept.K[:, 1]
        log_density = outlier_score = None
        if self.has_density:
            dimensions = D - n_missing
            log_density = kept.free_energies()
            log_density += dimensions * math.log(self.units.scale)
            nats = self.coefficients.sharpness * kept.distances[:, 0]
            outlier_score = gammainc(np.maximum(dimensions, 1) / 2.0, nats)
        shared = self._shared(kept)
        shares = self.estimator._shares(shared, self.units)
        probability = label_first(shared.K, shares)[:, 0]
        return Predictions(labels, probability, second, log_density, outlier_score)

    def _kernel(self, n_missing: Array) -> Kernel:
        return get_kernel(self.estimator.kernel, missing=bool(n_missing.any()))

    def _shared(self, kept: Truncated) -> Truncated:
        """Return the clusters among which rows are divided."""
        n = self.estimator._n_sharing()
        return replace(
            kept,
            K=kept.K[:, :n],
            distances=kept.distances[:, :n],
            relative=kept.relative[:, :n],
        )


def _concatenated(parts: list[Predictions]) -> Predictions:
    def joined(name: str) -> Any:
        of_parts = [getattr(part, name) for part in parts]
        return None if of_parts[0] is None else np.concatenate(of_parts)

    return Predictions(*(joined(name) for name in Predictions.__annotations__))
