"""`partial_fit` of a mixture with covariances of any type."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import _fit_context

from cprime import stepwise
from cprime.blas import one_thread
from cprime.checking import inputs, mixture_given, sample_weights
from cprime.checking.covariances import Covariances
from cprime.checking.random_numbers import checked_random_state
from cprime.checking.units import Units
from cprime.fitting import mixture_initialization as initialization
from cprime.fitting.degenerate import covariance_floor
from cprime.fitting.missing_values import FeatureMoments, marginalised
from cprime.fitting.mixture_results import MixtureResults
from cprime.fitting.results import fitted_or_unchanged
from cprime.fitting.stream import Stream
from cprime.kernels import get_kernel
from cprime.problem import Problem
from cprime.search import Exact
from cprime.stats import Stats
from cprime.stepwise import Memory
from cprime.theta import NOTHING, Given, Theta
from cprime.typing import Array


class StepwiseMixture:
    """For mixtures that can learn batch by batch."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from one more batch of rows, which need not be kept.

        Stepwise EM: one E-step over the batch, one M-step from all rows so far. Of
        batches of equal weight, number t makes up t**-0.7 of what is remembered: early
        batches, explained by bad parameters, are forgotten, and a stream that changes
        is followed. Other batches count, and make forget, in proportion to their
        weight.

        The first batch gives the means to start from, by `init_params`: it needs at
        least `n_components` rows, and better a hundred times as many, in random order.
        After `fit`, that fit is the first batch, by the sums its parameters stand for;
        `fit` itself starts afresh. `n_init`, `max_iter`, `tol` and `warm_start` play no
        part, and `search="lazy"` is the same as "exact": new rows have no cluster yet.

        A cluster that is left with less than a thousandth of an equal share, of this
        batch and of all that is remembered, moves to a badly explained row of the
        batch. No covariance falls below the floor that `reg_covar` gives for all rows
        so far.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the same as giving the row twice in this batch.

        Returns
        -------
        self : the estimator
            `free_energy_` and `lower_bound_` are those of this batch under the
            parameters before it, which had not seen it: an honest score. `n_steps_` and
            `n_samples_seen_` count batches and rows. `trace_`, `gap_` and what else
            belongs to a whole fit is gone; `gap(X)` and the like work.

        References
        ----------
        O. Cappe and E. Moulines, "On-line expectation-maximization algorithm for latent
        data models", J. R. Statist. Soc. B, 2009.
        """
        with fitted_or_unchanged(self) as put, one_thread():
            stream = self._stream_so_far()
            X = inputs.checked_data(
                self,
                X,
                reset=stream is None,
                sparse=False,
                missing=self._marginalizes,
            )
            weights = sample_weights.weights_of(sample_weight, X)
            C, C_prime = self._sizes_of_stream(X.shape[0], stream)
            batch = _Batch.of(self, X, weights, stream, C_prime)
            n_rows = X.shape[0]
            if stream is None:
                learned = stepwise.begin(batch.problem, batch.first_means(self, C))
            else:
                memory = stream.in_units(batch.units).memory
                theta = batch.problem.model.allowed(memory.theta)
                memory = replace(memory, theta=theta)
                learned = stepwise.go_on(batch.problem, memory)
                n_rows += stream.n_rows
            results = MixtureResults(
                batch.problem, batch.units, X.dtype, self._covariances
            )
            put(results.learned(learned, batch.overall, n_rows))
        if self.verbose:
            print(
                f"Batch {self.n_steps_}, free energy {self.free_energy_:.6f}, "
                f"{len(learned.relocated)} clusters moved."
            )
        return self

    def _stream_so_far(self: Any) -> Stream | None:
        """Return what is known from earlier rows, if there were any."""
        if hasattr(self, "_stream_"):
            known: Stream = self._stream_
        elif hasattr(self, "means_"):
            known = self._stream_of_parameters()
        else:
            return None
        if self._fitted_type.name != self.covariance_type:
            raise ValueError(
                f"partial_fit goes on with {self._fitted_type.name!r} covariances, but "
                f"covariance_type is {self.covariance_type!r} now: call fit, or "
                "partial_fit of a new estimator, to start with another type."
            )
        return known

    def _stream_of_parameters(self: Any) -> Stream:
        """Return a fit as if it were one batch, or parameters as a start."""
        theta = self._mixture()[1]
        inputs.refuse_impossible(theta)
        if self.equal_weights:
            theta = replace(theta, proportions=None)
        of, units = self._fitted_type, Units(1.0, 1.0)
        overall = _moments(theta, of)
        weight, n_rows = getattr(self, "_weight", 0.0), getattr(self, "_n_rows", 0)
        if not hasattr(self, "n_iter_") or weight == 0.0:
            return Stream(Memory(theta), overall, units, 0)
        memory = Memory(theta, _sums(theta, weight, of), 1, weight)
        return Stream(memory, overall, units, n_rows)

    def _sizes_of_stream(
        self: Any, n_rows: int, stream: Stream | None
    ) -> tuple[int, int]:
        """Return C and C', or say why there cannot be as many."""
        C = int(self.n_components)
        if stream is not None and len(stream.memory.theta.means) != C:
            raise ValueError(
                f"partial_fit goes on with the {len(stream.memory.theta.means)} "
                f"clusters it has, but n_components is {C} now: call fit, or "
                "partial_fit of a new estimator, to start with another number."
            )
        if stream is None and self.means_init is None and n_rows < C:
            raise ValueError(
                f"The first batch has n_samples={n_rows}, which should be >= "
                f"n_components={C}: its rows give the first means. Gather a larger "
                "one, or give means_init."
            )
        return self._checked_sizes(max(n_rows, C))


class _Batch:
    """A batch of rows, in units that suit all rows so far.

    Attributes
    ----------
    problem : Problem
    units : Units
    overall : Theta
        The mean of all rows that are remembered, and the variance of every feature.
    """

    def __init__(
        self,
        problem: Problem,
        filled: Problem,
        given: Given,
        units: Units,
        overall: Theta,
    ):
        self.problem, self._filled, self._given = problem, filled, given
        self.units, self.overall = units, overall

    @classmethod
    def of(
        cls, mixture: Any, X: Any, weights: Array, stream: Stream | None, C_prime: int
    ) -> "_Batch":
        if stream is None:
            units = Units.of_rows(X, weights)
        else:
            units = stream.units_with(X, weights)
        rows, kernel = units.rows(X, weights), get_kernel(mixture.kernel)
        known = FeatureMoments.of(mixture, rows, kernel)
        overall, given = Theta(known.means[None], known.variances[None]), NOTHING
        if stream is None:
            C, D = int(mixture.n_components), X.shape[1]
            given = mixture_given.wanted(mixture, C, D, units)
        else:
            overall = stream.in_units(units).overall_with(overall, rows.weight)
        known = replace(
            known, means=overall.means[0], variances=np.asarray(overall.covariance)[0]
        )
        of = mixture._covariances
        floor = covariance_floor(known, units, mixture.reg_covar, of.resolution)
        model = of.of(floor, mixture.equal_weights, given)
        filled = Problem(known.filled, model, Exact(), kernel, C_prime)
        problem = marginalised(filled, known, floor, mixture.kernel)
        return cls(problem, filled, given, units, overall)

    def first_means(self, mixture: Any, C: int) -> Array:
        """Return where the stream starts, by `init_params`."""
        random_state = checked_random_state(mixture.random_state)
        start = initialization.start(
            mixture.init_params, C, self._given.means, self._filled, random_state
        )
        found: Array = start().means
        return found


def _moments(theta: Theta, of: Covariances) -> Theta:
    """Return the mean of a mixture, and its variance along every feature."""
    C, D = theta.means.shape
    shares = np.full(C, 1.0 / C) if theta.proportions is None else theta.proportions
    mean = shares @ theta.means
    within = of.diagonals(theta.covariance, C, D)
    variances = shares @ (within + (theta.means - mean) ** 2)
    return Theta(mean[None], variances[None])


def _sums(theta: Theta, weight: float, of: Covariances) -> Stats:
    """Return the sums of rows of which these parameters are the M-step."""
    C, D = theta.means.shape
    shares = np.full(C, 1.0 / C) if theta.proportions is None else theta.proportions
    counts = weight * shares
    return Stats(
        counts=counts,
        shifts=np.zeros((C, D)),
        scatter=of.scatter_of(theta.covariance, counts, D),
        quantization_error=0.0,
        entropy=0.0,
        free_energy=0.0,
        weight=weight,
        evaluations=0,
        changed=0,
    )
