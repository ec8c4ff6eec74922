"""What a fit puts on its estimator."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cprime import bounds, em
from cprime.estimators.restarts import Restarts, Run
from cprime.estimators.units import Units
from cprime.problem import Problem
from cprime.theta import Coefficients, Theta
from cprime.typing import Array

Attributes = dict[str, Any]
OF_THE_INPUT = {"n_features_in_", "feature_names_in_"}
TRACED = (
    "iteration",
    "free_energy",
    "evaluations",
    "changed",
    "relocated",
    "seconds",
)


@dataclass(frozen=True)
class Outcome(ABC):
    """Turns the end of a fit into attributes, in the units and dtype of the data."""

    problem: Problem
    units: Units
    dtype: Any

    @abstractmethod
    def rounded(self, theta: Theta) -> Theta:
        """Return what the output dtype can hold of theta, still in computing units."""

    @abstractmethod
    def named(self, theta: Theta) -> Attributes:
        """Return the parameters as this estimator calls them."""

    @abstractmethod
    def ended(self, fit: em.Fit) -> Attributes:
        """Return what else this estimator tells about the end of a fit."""

    @abstractmethod
    def objective(self, fit: em.Fit) -> float:
        """Return what the best restart has most of."""

    def traced(self, step: em.Step) -> Attributes:
        """Return what of a step is remembered."""
        return {name: getattr(step, name) for name in TRACED}

    def log_density(self, value: Any) -> Any:
        """Return a mean log density, such as F, per volume in a person's units."""
        return self.units.log_density_out(value, self.problem.rows)

    def parameters(self, theta: Theta) -> Attributes:
        """Return what `predict` and the like need."""
        return {
            **self.named(theta),
            "_n_features_out": len(theta.means),
            "_C_prime": self.problem.C_prime,
            "_n_parameters": self.problem.model.n_parameters(*theta.means.shape),
        }

    def complete(self, restarts: Restarts) -> Attributes:
        """Return all attributes, for the best restart.

        Labels, inertia, F, L and gap belong to one sweep under the returned parameters.
        """
        run = restarts.best
        assert run is not None and run.fit is not None
        known, problem = self._known(run, restarts.evaluations), self.problem
        coefficients = problem.model.coefficients(run.fit.theta)
        labels = known.get("labels_", None)
        if labels is None:
            labels = self._nearest(coefficients)
        gap = bounds.gap(
            problem.rows,
            coefficients,
            C_prime=problem.C_prime,
            K=labels[:, None] if problem.C_prime == 1 else None,
            kernel=problem.kernel,
        )
        gap_evaluations = problem.rows.n_rows * len(coefficients.means)
        return {
            **known,
            "labels_": labels,
            "log_likelihood_": known["free_energy_"] + gap,
            "gap_": gap,
            "evaluations_": restarts.evaluations + gap_evaluations,
        }

    def interrupted(self, restarts: Restarts) -> Attributes:
        """Return what is known without another sweep.

        That is the best complete restart, or else the last complete iteration.
        """
        if restarts.best is not None:
            return self._known(restarts.best, restarts.evaluations)
        run = restarts.current
        return {} if run is None else self._known(run, run.evaluations)

    def _known(self, run: Run, evaluations: int) -> Attributes:
        end = run.last if run.fit is None else run.fit
        attributes = {
            **self.parameters(end.theta),
            **self._history(run),
            "free_energy_": float(self.log_density(end.free_energy)),
            "evaluations_": evaluations,
        }
        if run.fit is not None:
            attributes |= self.ended(run.fit)
        labels = self.problem.rows.labels(end.K)
        if labels is not None:
            attributes["labels_"] = labels
        return attributes

    def _history(self, run: Run) -> Attributes:
        names = run.trace[0]
        trace = {name: np.array([line[name] for line in run.trace]) for name in names}
        trace["free_energy"] = self.log_density(trace["free_energy"])
        return {
            "trace_": trace,
            "n_iter_": run.last.iteration,
            "converged_": run.last.converged != "",
            "n_relocations_": int(trace["relocated"].sum()),
        }

    def _nearest(self, coefficients: Coefficients) -> Array:
        def nearest(values: Array, weights: Array) -> Array:
            return self.problem.kernel.nearest(values, coefficients)

        labels: Array = self.problem.rows.map(nearest)
        return labels


class ClustersOutcome(Outcome):
    """The outcome of k-means and its relatives with one variance."""

    def rounded(self, theta: Theta) -> Theta:
        seen = self.units.means_out(theta.means).astype(self.dtype)
        return replace(theta, means=self.units.means_in(seen))

    def named(self, theta: Theta) -> Attributes:
        return {
            "cluster_centers_": self.units.means_out(theta.means).astype(self.dtype),
            "variance_": self.units.variance_out(theta.covariance),
        }

    def ended(self, fit: em.Fit) -> Attributes:
        error = fit.stats.quantization_error
        return {"inertia_": self.units.objective_out(error)}

    def objective(self, fit: em.Fit) -> float:
        """Return -J at C' = 1, else F."""
        if self.problem.C_prime == 1:
            return -fit.stats.quantization_error
        return fit.free_energy

    def traced(self, step: em.Step) -> Attributes:
        variance = step.theta.covariance / self.units.scale / self.units.scale
        return {**super().traced(step), "variance": variance}


@contextmanager
def fitted_or_unchanged(estimator: Any) -> Iterator[Callable[[Attributes], None]]:
    """Give a function that sets the attributes of a fit, replacing all earlier ones.

    If the fit ends in an error before that, the estimator is as it was: an earlier fit
    stays whole, with the features it was fitted on.
    """
    before = _fitted(estimator)
    done = False

    def put(attributes: Attributes) -> None:
        nonlocal done
        vars(estimator).update(attributes)
        for name in _fitted(estimator).keys() - attributes.keys() - OF_THE_INPUT:
            delattr(estimator, name)
        done = True

    try:
        yield put
    except BaseException:
        if not done:
            for name in _fitted(estimator):
                delattr(estimator, name)
            vars(estimator).update(before)
        raise


def _fitted(estimator: Any) -> Attributes:
    return {name: v for name, v in vars(estimator).items() if name.endswith("_")}
