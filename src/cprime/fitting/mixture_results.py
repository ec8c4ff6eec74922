"""What a fit puts on a `GaussianMixture`."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cprime import em
from cprime.checking.covariances import Covariances
from cprime.fitting.restarts import Restarts, Run
from cprime.fitting.results import Attributes, DensityResults
from cprime.fitting.stream import Stream
from cprime.stepwise import Learned
from cprime.theta import Theta
from cprime.typing import Array

# A cluster with this share of the rows has none.
EMPTY = 1e-15


@dataclass(frozen=True)
class MixtureResults(DensityResults):
    """Turns the end of a fit into scikit-learn's names.

    Attributes
    ----------
    covariances : Covariances
        Of the estimator's `covariance_type`.
    """

    covariances: Covariances

    def rounded(self, theta: Theta) -> Theta:
        if self.dtype == np.float64:
            return theta
        held = self.covariances.held(theta.covariance, self.dtype, margin=2.0)
        seen = self.named(replace(theta, covariance=held))
        weights = seen["weights_"].astype(np.float64)
        return replace(
            theta,
            means=self.units.means_in(seen["means_"]),
            covariance=self.units.covariance_in(
                self.covariances.kept(seen["covariances_"])
            ),
            proportions=None if theta.proportions is None else weights,
        )

    def named(self, theta: Theta) -> Attributes:
        C, weights = len(theta.means), theta.proportions
        if weights is None:
            weights = np.full(C, 1.0 / C)
        covariance = self.covariances.held(theta.covariance, self.dtype)
        covariance = self.units.covariance_out(covariance, self.dtype)
        covariances = self.covariances.seen(covariance)
        # Of what is seen, but not with its few digits.
        exact = np.asarray(covariances, dtype=np.float64)
        return {
            "_covariance_type": self.covariances.name,
            "weights_": weights.astype(self.dtype),
            "means_": self.units.means_out(theta.means).astype(self.dtype),
            "covariances_": covariances,
            "precisions_": self._seen(self.covariances.inverted(exact)),
            "precisions_cholesky_": self._seen(self.covariances.cholesky(exact)),
        }

    def traced(self, step: em.Step) -> Attributes:
        floored = self.problem.model.floored(step.theta)
        return {**super().traced(step), "floored": tuple(floored)}

    def ended(self, fit: em.Fit) -> Attributes:
        counts = fit.stats.counts
        return {
            "lower_bound_": self.measured(fit.free_energy)["free_energy"],
            "_floored": self.problem.model.floored(fit.theta),
            "_empty": np.flatnonzero(counts <= EMPTY * fit.stats.weight).tolist(),
            "_weight": fit.stats.weight / self.units.weight_scale,
            "_n_rows": self.problem.rows.n_rows,
        }

    def learned(self, batch: Learned, overall: Theta, n_rows: int) -> Attributes:
        """Return parameters that know a batch, and how it fared under those before."""
        memory = batch.memory
        bound = self.measured(batch.free_energy)["free_energy"]
        return {
            **self.parameters(memory.theta),
            "free_energy_": bound,
            "lower_bound_": bound,
            "n_steps_": memory.n_batches,
            "n_samples_seen_": n_rows,
            "_stream_": Stream(memory, overall, self.units, n_rows),
        }

    def complete(self, restarts: Restarts) -> Attributes:
        attributes = super().complete(restarts)
        # A mixture is asked for labels, it does not keep them.
        attributes.pop("labels_", None)
        bounds = attributes["trace_"]["free_energy"][1:].tolist()
        # The last E-step raises F once more.
        bounds[-1:] = [attributes["lower_bound_"]] * len(bounds[-1:])
        return {**attributes, "lower_bounds_": bounds}

    def expected_before(self, mixture: Any, warm: Theta | None) -> float:
        """Return F of the last E-step of a fit that is gone on with, if it is known."""
        if warm is None or not hasattr(mixture, "_expected"):
            return -math.inf
        # From a user's units to those of the computation.
        return float(mixture._expected - self.measured(0.0)["free_energy"])

    def _history(self, run: Run) -> Attributes:
        history, expected = super()._history(run), run.last.expected
        if math.isfinite(expected):
            # A warm start compares its first E-step with the last one here.
            history["_expected"] = self.measured(expected)["free_energy"]
        return history

    def interrupted(self, restarts: Restarts) -> Attributes:
        known = super().interrupted(restarts)
        known.pop("labels_", None)
        if known:
            known["lower_bound_"] = known["free_energy_"]
        return known

    def _seen(self, values: Array) -> Any:
        return values.astype(self.dtype)[()]
