"""What a fit puts on its estimator."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime import bounds
from cprime.estimators.restarts import Restarts, Run
from cprime.estimators.units import Units
from cprime.problem import Problem
from cprime.theta import Coefficients, Theta
from cprime.typing import Array

Attributes = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """Turns the end of a fit into attributes, in the units and dtype of the data."""

    problem: Problem
    units: Units
    dtype: Any

    def rounded(self, means: Array) -> Array:
        """Return means as the output dtype can hold them, still in computing units."""
        seen = self.units.means_out(means).astype(self.dtype)
        return self.units.means_in(seen)

    def log_density(self, value: Any) -> Any:
        """Return a mean log density, such as F, per volume in a person's units."""
        return self.units.log_density_out(value, self.problem.rows.n_features)

    def parameters(self, theta: Theta) -> Attributes:
        """Return what `predict` and the like need."""
        return {
            "cluster_centers_": self.units.means_out(theta.means).astype(self.dtype),
            "variance_": self.units.variance_out(theta.covariance),
            "_n_features_out": len(theta.means),
        }

    def complete(self, restarts: Restarts) -> Attributes:
        """Return all attributes, for the best restart.

        Labels, inertia, F, L and gap belong to one sweep under the returned parameters.
        """
        run = restarts.best
        assert run is not None and run.fit is not None
        fit, problem = run.fit, self.problem
        coefficients = problem.model.coefficients(fit.theta)
        labels = self._labels(fit.K, coefficients)
        gap = bounds.gap(
            problem.rows,
            coefficients,
            C_prime=problem.C_prime,
            K=labels[:, None] if problem.C_prime == 1 else None,
            kernel=problem.kernel,
        )
        free_energy = self.log_density(fit.free_energy)
        gap_evaluations = problem.rows.n_rows * len(fit.theta.means)
        return {
            **self.parameters(fit.theta),
            **self._history(run),
            "labels_": labels,
            "inertia_": self.units.objective_out(fit.stats.quantization_error),
            "free_energy_": float(free_energy),
            "log_likelihood_": float(free_energy) + gap,
            "gap_": gap,
            "evaluations_": restarts.evaluations + gap_evaluations,
        }

    def interrupted(self, restarts: Restarts) -> Attributes:
        """Return what is complete: the best restart, or else the last iteration."""
        if restarts.best is not None:
            return self.complete(restarts)
        run = restarts.current
        if run is None:
            return {}
        history = self._history(run)
        attributes = {
            **self.parameters(run.last.theta),
            **history,
            "free_energy_": float(history["trace_"]["free_energy"][-1]),
            "evaluations_": restarts.evaluations,
        }
        if run.last.K.shape[1] > 0:
            attributes["labels_"] = run.last.K[:, 0].copy()
        return attributes

    def _history(self, run: Run) -> Attributes:
        trace = {name: np.array(values) for name, values in run.trace.items()}
        trace["free_energy"] = self.log_density(trace["free_energy"])
        trace["variance"] = trace["variance"] / self.units.scale / self.units.scale
        return {
            "trace_": trace,
            "n_iter_": run.last.iteration,
            "converged_": run.last.converged != "",
            "n_relocations_": int(trace["relocated"].sum()),
        }

    def _labels(self, K: Array, coefficients: Coefficients) -> Array:
        """Return the closest cluster of every row; K does not hold it when C' = C."""
        if K.shape[1] > 0:
            return K[:, 0].copy()

        def nearest(values: Array, weights: Array) -> Array:
            return self.problem.kernel.posterior(values, coefficients, 1).K[:, 0]

        return self.problem.rows.map(nearest)


def set_attributes(estimator: Any, attributes: Attributes) -> None:
    """Replace all fitted attributes, so that none is left over from an earlier fit."""
    of_the_input = ("n_features_in_", "feature_names_in_")
    for name in list(vars(estimator)):
        if name.endswith("_") and name not in of_the_input:
            delattr(estimator, name)
    for name, value in attributes.items():
        setattr(estimator, name, value)
