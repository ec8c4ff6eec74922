"""`partial_fit`: clusters learned from a stream of batches."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from cprime import em, stepwise
from cprime.estimators import inputs
from cprime.estimators.outcome import (
    Attributes,
    ClustersOutcome,
    fitted_or_unchanged,
)
from cprime.estimators.starts import Starts
from cprime.estimators.training import Training
from cprime.estimators.units import LARGEST, Units
from cprime.kernels import Kernel, get_kernel
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
        The mean of all rows that are remembered, and their variance averaged over
        features.
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
        between = share * (1.0 - share) * float(np.mean(step * step))
        within = (1.0 - share) * self.overall.covariance + share * batch.covariance
        return Theta(self.overall.means + share * step, within + between)


@dataclass(frozen=True)
class StreamedOutcome(ClustersOutcome):
    """The outcome of a fit, or of a batch, that later batches may go on from.

    Attributes
    ----------
    overall : Theta
        The mean of all rows, and their variance averaged over features.
    """

    overall: Theta

    @classmethod
    def of(cls, problem: Problem, training: Training) -> "StreamedOutcome":
        return cls(problem, training.units, training.X.dtype, training.overall)

    def ended(self, fit: em.Fit) -> Attributes:
        """Return how a fit ended, and all of it as if it were one batch."""
        memory = Memory(fit.theta, fit.stats, 1, fit.stats.weight)
        stream = Stream(memory, self.overall, self.units, self.problem.rows.n_rows)
        return {**super().ended(fit), "_stream_": stream}

    def learned(self, batch: Learned, n_rows: int) -> Attributes:
        """Return parameters that know a batch, and how it fared under those before."""
        swept = em.Fit(batch.before, batch.K, batch.stats, batch.free_energy)
        labels = self.problem.rows.labels(swept.K)
        return {
            **self.parameters(batch.memory.theta),
            **super().ended(swept),
            "labels_": self._nearest(swept) if labels is None else labels,
            "free_energy_": self.measured(swept.free_energy)["free_energy"],
            "n_steps_": batch.memory.n_batches,
            "n_samples_seen_": n_rows,
            "_stream_": Stream(batch.memory, self.overall, self.units, n_rows),
        }


class Stepwise:
    """For estimators of round clusters that can learn batch by batch."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from one more batch of rows, which need not be kept.

        Stepwise EM: one E-step over the batch, one M-step from all rows so far. Of
        batches of equal weight, number t makes up t**-0.7 of what is remembered: early
        batches, assigned by bad parameters, are forgotten, and a stream that changes is
        followed. Other batches count, and make forget, in proportion to their weight.

        The first batch gives the seeds, by `init`: it needs at least `n_clusters` rows,
        and better a hundred times as many, in random order. After `fit`, that fit is
        the first batch; `fit` itself starts afresh. `n_init`, `max_iter` and `tol` play
        no part, and `search="lazy"` is the same as "exact": new rows have no cluster
        yet that they would be reluctant to leave.

        A cluster that is left with less than a thousandth of an equal share, of this
        batch and of all that is remembered, moves to the worst served row of the batch,
        as an empty one does in `fit`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the same as giving the row twice in this batch.

        Returns
        -------
        self : the estimator
            `labels_`, `inertia_` and `free_energy_` are those of this batch under the
            parameters before it, which had not seen it: an honest score. `predict(X)`
            gives the labels under the new ones. `log_likelihood_`, `gap_`, `trace_` and
            what else belongs to a whole fit is gone; `gap(X)` and the like work.

        References
        ----------
        O. Cappe and E. Moulines, "On-line expectation-maximization algorithm for latent
        data models", J. R. Statist. Soc. B, 2009.

        P. Liang and D. Klein, "Online EM for unsupervised models", NAACL, 2009.
        """
        with fitted_or_unchanged(self) as put:
            stream = self._stream_so_far()
            X = inputs.checked_data(self, X, reset=stream is None)
            weights = inputs.checked_weights(sample_weight, X.shape[0])
            C, C_prime = self._sizes_of_stream(X.shape[0], stream)
            training = _training(X, weights, get_kernel(self.kernel), stream)
            random_state = check_random_state(self.random_state)
            starts = Starts(self.init, C, training, random_state)
            outcome, next_start = self._prepared(training, starts, C_prime)
            problem, n_rows = outcome.problem, X.shape[0]
            if stream is None:
                batch = stepwise.begin(problem, next_start()().means)
            else:
                memory = stream.in_units(training.units).memory
                theta = problem.model.allowed(memory.theta)
                batch = stepwise.go_on(problem, replace(memory, theta=theta))
                n_rows += stream.n_rows
            put(outcome.learned(batch, n_rows))
        if self.verbose:
            print(
                f"Batch {self.n_steps_}, free energy {self.free_energy_:.6f}, "
                f"{len(batch.relocated)} clusters moved."
            )
        return self

    def _stream_so_far(self: Any) -> Stream | None:
        """Return what is known from earlier rows, if there were any."""
        if hasattr(self, "_stream_"):
            stream: Stream = self._stream_
            return stream
        if not hasattr(self, "cluster_centers_"):
            return None
        # A fit that was interrupted, or came from elsewhere: a start, no statistics.
        theta = self._mixture()[1]
        inputs.refuse_impossible(theta)
        return Stream(Memory(theta), theta, Units(1.0, 1.0), 0)

    def _sizes_of_stream(
        self: Any, n_rows: int, stream: Stream | None
    ) -> tuple[int, int]:
        """Return C and C', or say why there cannot be as many."""
        C = int(self.n_clusters)
        if stream is not None and len(stream.memory.theta.means) != C:
            raise ValueError(
                f"partial_fit goes on with the {len(stream.memory.theta.means)} "
                f"clusters it has, but n_clusters is {C} now: call fit, or partial_fit "
                "of a new estimator, to start with another number."
            )
        chosen_from_rows = isinstance(self.init, str) or callable(self.init)
        if stream is None and chosen_from_rows and n_rows < C:
            raise ValueError(
                f"The first batch has n_samples={n_rows}, which should be >= "
                f"n_clusters={C}: its rows give the first centers. Gather a larger "
                "one, or give centers as init."
            )
        return self._checked_sizes(max(n_rows, C))


def _training(
    X: Any, weights: Array, kernel: Kernel, stream: Stream | None
) -> Training:
    """Return a batch in units that also suit the stream, and spread as all of it is."""
    if stream is None:
        return Training.of(X, weights, kernel)
    units = stream.units_with(X, weights)
    training = Training.of(X, weights, kernel, units)
    weight = float(np.sum(training.rows.weights))
    overall = stream.in_units(units).overall_with(training.overall, weight)
    return replace(training, overall=overall)


def _times(factor: float, theta: Theta) -> Theta:
    """Return means and a variance in other units."""
    return Theta(theta.means * factor, theta.covariance * factor * factor)
