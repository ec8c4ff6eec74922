"""What is remembered of a stream of batches, and how does the next one join it?"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cprime import em
from cprime.checking.units import LARGEST, Units
from cprime.fitting.results import Attributes, ClustersResults
from cprime.fitting.training import Training
from cprime.kernels import Kernel
from cprime.problem import Problem
from cprime.stepwise import Learned, Memory
from cprime.theta import Theta
from cprime.typing import Array


@dataclass(frozen=True)
class Stream:
    """All that an estimator keeps of the rows it has seen.

    Attributes
    ----------
    memory : Memory
    overall : Theta
        The mean of all rows that are remembered, and their variance: averaged over
        features, or of each, shape (1, D).
    units : Units
        Of the numbers in both.
    n_rows : int
        Rows seen, whatever they weigh.
    """

    memory: Memory
    overall: Theta
    units: Units
    n_rows: int

    def units_with(self, X: Any, weights: Array) -> Units:
        """Return units that suit what is remembered and the rows of a batch."""
        theta, batch = self.memory.theta, Units.of_rows(X, weights)
        spread = float(np.sqrt(np.max(theta.covariance)))
        largest = max(float(np.abs(theta.means).max()), spread) / self.units.scale
        scale = min(batch.scale, Units.of(min(largest, LARGEST), 1.0).scale)
        weight_scale = min(self.units.weight_scale, batch.weight_scale)
        return Units(scale, weight_scale, batch.extreme)

    def in_units(self, units: Units) -> "Stream":
        """Return the same in other units: all numbers times powers of two."""
        by = units.scale / self.units.scale
        by_weight = units.weight_scale / self.units.weight_scale
        if by == by_weight == 1.0:
            return replace(self, units=units)
        memory, stats = self.memory, self.memory.stats
        memory = replace(
            memory,
            theta=_times(by, memory.theta),
            stats=None if stats is None else stats.scaled(by_weight, by),
            weight=memory.weight * by_weight,
        )
        return replace(
            self, memory=memory, overall=_times(by, self.overall), units=units
        )

    def overall_with(self, batch: Theta, weight: float) -> Theta:
        """Return mean and variance of all rows, with a batch of this weight."""
        if self.memory.stats is None:
            return batch
        remembered = self.memory.kept(weight) * self.memory.stats.weight
        share = weight / (remembered + weight)
        step = batch.means - self.overall.means
        squares = step * step if np.ndim(batch.covariance) else np.mean(step * step)
        between = share * (1.0 - share) * squares
        within = (1.0 - share) * self.overall.covariance + share * batch.covariance
        return Theta(self.overall.means + share * step, within + between)


@dataclass(frozen=True)
class StreamedResults(ClustersResults):
    """The results of a fit, or of a batch, that later batches may go on from.

    Attributes
    ----------
    overall : Theta
        The mean of all rows, and their variance averaged over features.
    """

    overall: Theta

    @classmethod
    def of(cls, problem: Problem, training: Training) -> "StreamedResults":
        return cls(problem, training.units, training.X.dtype, training.overall)

    def ended(self, fit: em.Fit) -> Attributes:
        """Return how a fit ended, and all of it as if it were one batch."""
        memory = Memory(fit.theta, fit.stats, 1, fit.stats.weight)
        stream = Stream(memory, self.overall, self.units, self.problem.rows.n_rows)
        return {**super().ended(fit), "_stream_": stream}

    def learned(self, batch: Learned, n_rows: int) -> Attributes:
        """Return parameters that know a batch, and how it fared under those before."""
        swept = em.Fit(batch.before, batch.K, batch.stats, batch.free_energy)
        labels = batch.K.labels()
        return {
            **self.parameters(batch.memory.theta),
            **super().ended(swept),
            "labels_": self._nearest(swept) if labels is None else labels,
            "free_energy_": self.measured(swept.free_energy)["free_energy"],
            "n_steps_": batch.memory.n_batches,
            "n_samples_seen_": n_rows,
            "_stream_": Stream(batch.memory, self.overall, self.units, n_rows),
        }


def training_with(
    X: Any, weights: Array, kernel: Kernel, stream: Stream | None
) -> Training:
    """Return a batch in units that also suit the stream, and spread as all of it is."""
    if stream is None:
        return Training.of(X, weights, kernel)
    units = stream.units_with(X, weights)
    training = Training.of(X, weights, kernel, units)
    weight = training.rows.weight
    overall = stream.in_units(units).overall_with(training.overall, weight)
    return replace(training, overall=overall)


def _times(factor: float, theta: Theta) -> Theta:
    """Return means and covariances in other units."""
    means, covariance = theta.means * factor, theta.covariance * factor * factor
    return Theta(means, covariance, theta.proportions)
