"""`partial_fit`: clusters learned from a stream of batches."""

from dataclasses import replace
from typing import Any

from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from cprime import stepwise
from cprime.checking import inputs, sample_weights
from cprime.checking.units import Units
from cprime.fitting.initialization import Starts
from cprime.fitting.results import fitted_or_unchanged
from cprime.fitting.stream import Stream, training_with
from cprime.kernels import get_kernel
from cprime.stepwise import Memory


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
        the first batch; `fit` itself starts over. `n_init`, `max_iter` and `tol` play
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
            parameters before it, which had not seen it: a score of new rows.
            `predict(X)` gives the labels under the new ones. `log_likelihood_`, `gap_`,
            `trace_` and what else belongs to a whole fit are gone; `gap(X)` and the
            like work.

        References
        ----------
        O. Cappe and E. Moulines, "On-line expectation-maximization algorithm for latent
        data models", J. R. Statist. Soc. B, 2009.

        P. Liang and D. Klein, "Online EM for unsupervised models", NAACL, 2009.
        """
        with fitted_or_unchanged(self) as put:
            stream = self._stream_so_far()
            X = inputs.checked_data(self, X, reset=stream is None)
            weights = sample_weights.weights_of(sample_weight, X)
            C, C_prime = self._sizes_of_stream(X.shape[0], stream)
            training = training_with(X, weights, get_kernel(self.kernel), stream)
            random_state = check_random_state(self.random_state)
            starts = Starts(self.init, C, training, random_state)
            results, next_start = self._prepared(training, starts, C_prime)
            problem, n_rows = results.problem, X.shape[0]
            if stream is None:
                batch = stepwise.begin(problem, next_start()().means)
            else:
                memory = stream.in_units(training.units).memory
                theta = problem.model.allowed(memory.theta)
                batch = stepwise.go_on(problem, replace(memory, theta=theta))
                n_rows += stream.n_rows
            put(results.learned(batch, n_rows))
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
