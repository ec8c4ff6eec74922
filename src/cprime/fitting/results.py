"""What a fit puts on its estimator."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from cprime import convergence, em, lloyd
from cprime.checking.units import Units
from cprime.fitting.restarts import Restarts, Run, State
from cprime.problem import Problem
from cprime.theta import Theta
from cprime.typing import Array

Attributes = dict[str, Any]
OF_THE_INPUT = {"n_features_in_", "feature_names_in_"}
TRACED = ("evaluations", "changed", "relocated", "seconds")


@dataclass(frozen=True)
class Results(ABC):
    """Turns the end of a fit into attributes, in the units and dtype of the data."""

    problem: Problem
    units: Units
    dtype: Any
    has_density: ClassVar[bool] = False

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
    def measured(self, free_energy: float) -> Attributes:
        """Return how good a step or fit of this F is, in a user's units."""

    def run_unwatched(self, stop: convergence.Stop, C: int) -> bool:
        """Return whether restarts of C clusters may run whole in compiled code."""
        return False

    def objective(self, fit: em.Fit) -> float:
        """Return what the best restart has most of."""
        return fit.free_energy

    def traced(self, step: em.Step) -> Attributes:
        """Return what of a step is remembered."""
        work = {name: getattr(step, name) for name in TRACED}
        return {
            "iteration": step.iteration,
            **self.measured(step.free_energy),
            **work,
        }

    def parameters(self, theta: Theta) -> Attributes:
        """Return what `predict` and the like need."""
        return {
            **self.named(theta),
            "_n_features_out": len(theta.means),
            "_C_prime": self.problem.C_prime,
            "_n_free": self.problem.model.n_parameters(*theta.means.shape),
        }

    def complete(self, restarts: Restarts) -> Attributes:
        """Return all attributes, for the best restart.

        They belong to one sweep under the returned parameters.
        """
        state = restarts.state
        assert state.best is not None and state.best.fit is not None
        return self._known(state.best, state)

    def interrupted(self, restarts: Restarts) -> Attributes:
        """Return what is known without another sweep.

        That is the best complete restart, or else the last complete iteration.
        """
        state = restarts.state
        run = state.best or state.current
        return {} if run is None else self._known(run, state)

    def summarised(self, run: Run) -> Attributes:
        """Return what of a complete restart is remembered."""
        assert run.fit is not None
        return {
            **self.measured(run.fit.free_energy),
            "n_iter": run.last.iteration,
            "converged": run.last.converged != "",
        }

    def _known(self, run: Run, state: State) -> Attributes:
        end = run.last if run.fit is None else run.fit
        attributes = {
            **self.parameters(end.theta),
            **self._history(run),
            "evaluations_": state.evaluations if state.complete else run.evaluations,
        }
        if state.complete:
            attributes["restarts_"] = _columns(state.complete)
        for name, value in self.measured(end.free_energy).items():
            attributes[f"{name}_"] = value
        if run.fit is not None:
            attributes |= self.ended(run.fit)
        labels = end.K.labels()
        if labels is not None:
            attributes["labels_"] = labels
        return attributes

    def _history(self, run: Run) -> Attributes:
        missed = run.last.missed
        relocated = [cluster for line in run.trace for cluster in line["relocated"]]
        return {
            "trace_": _columns(run.trace),
            "n_iter_": run.last.iteration,
            "converged_": run.last.converged != "",
            "n_relocations_": len(relocated),
            "_relocated": sorted(set(relocated)),
            **({} if missed is None else {"n_missed_": missed}),
        }


class DensityResults(Results):
    """The results of fitting a mixture: F is a bound on its log-likelihood."""

    has_density = True

    def measured(self, free_energy: float) -> Attributes:
        rows = self.problem.rows
        return {"free_energy": float(self.units.log_density_out(free_energy, rows))}


class CentersResults(Results):
    """The results of a search for cluster centres."""

    def complete(self, restarts: Restarts) -> Attributes:
        """Return all attributes, with the label of every row."""
        known = super().complete(restarts)
        if "labels_" not in known:
            # Rows that keep all clusters did not need to know their closest.
            best = restarts.state.best
            assert best is not None and best.fit is not None
            known["labels_"] = self._nearest(best.fit)
        return known

    def summarised(self, run: Run) -> Attributes:
        assert run.fit is not None
        inertia = self.units.sum_out(run.fit.stats.quantization_error)
        return {**super().summarised(run), "inertia": inertia}

    def rounded(self, theta: Theta) -> Theta:
        seen = self.units.means_out(theta.means).astype(self.dtype)
        return replace(theta, means=self.units.means_in(seen))

    def named(self, theta: Theta) -> Attributes:
        centers = self.units.means_out(theta.means).astype(self.dtype)
        return {"cluster_centers_": centers}

    def ended(self, fit: em.Fit) -> Attributes:
        error = fit.stats.quantization_error
        return {"inertia_": self.units.objective_out(error)}

    def _nearest(self, fit: em.Fit) -> Array:
        coefficients = self.problem.model.coefficients(fit.theta)
        kernel = self.problem.kernel

        def nearest(values: Array, weights: Array) -> Array:
            return kernel.nearest(values, coefficients)

        labels: Array = self.problem.rows.map(nearest)
        return labels


class ClustersResults(CentersResults, DensityResults):
    """The results of k-means and its relatives with one variance."""

    def named(self, theta: Theta) -> Attributes:
        variance = self.units.variance_out(theta.covariance)
        return {**super().named(theta), "variance_": variance}

    def run_unwatched(self, stop: convergence.Stop, C: int) -> bool:
        return lloyd.is_possible(self.problem, stop, C, self.dtype)

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


def _columns(lines: Sequence[Attributes]) -> dict[str, Array]:
    return {
        name: np.array([_number(line[name]) for line in lines]) for name in lines[0]
    }


def _number(of_step: Any) -> Any:
    """Return what a trace shows: of named clusters, how many they are."""
    return len(of_step) if isinstance(of_step, tuple) else of_step


def _fitted(estimator: Any) -> Attributes:
    return {name: v for name, v in vars(estimator).items() if name.endswith("_")}
