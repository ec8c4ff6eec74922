"""What does an `AutoMixture` know once the search is over?"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cprime.checking.units import Units
from cprime.checkpointing.checkpoint import Checkpoint
from cprime.estimators.auto_results import estimator_of, results_table, verdict
from cprime.kernels import get_kernel
from cprime.rows import Rows
from cprime.selection.candidates import Candidate
from cprime.selection.choice import Choice, smallest_c_prime
from cprime.selection.shapes import SHAPES
from cprime.typing import Array


@dataclass(frozen=True)
class Finish:
    """Turns what a search has found into attributes.

    Attributes
    ----------
    auto : AutoMixture
    choice : Choice
    X, sample_weight
        As they were checked, and as a user gave them.
    rows : Rows
        The same in the units that are computed in.
    units : Units
    interrupted : bool, default=False
        Whether the search was stopped: the best is then left as it was found, without
        more iterations than it takes.
    """

    auto: Any
    choice: Choice
    X: Any
    sample_weight: Any
    rows: Rows
    units: Units
    interrupted: bool = False

    def attributes(self, checkpoint: Checkpoint | None = None) -> dict[str, Any]:
        """Fit the best to all rows, and return all attributes."""
        auto, choice, best = self.auto, self.choice, self.choice.best
        estimator = self._estimator(best)
        estimator.fit(self.X, sample_weight=self.sample_weight, checkpoint=checkpoint)
        labels = getattr(estimator, "labels_", None)
        found = {
            "n_clusters_": best.C,
            "shape_": SHAPES[best.shape].covariance_type,
            "c_prime_": int(estimator.c_prime),
            "best_estimator_": estimator,
            "labels_": estimator.predict(self.X) if labels is None else labels,
            "plausible_": choice.plausible,
            "agreement_": choice.agreement,
            "merged_labels_": choice.groups[self._labels_of(choice.by_bic)],
            "verdict_": verdict(
                choice, auto.max_clusters, self.rows.n_rows, self.interrupted
            ),
            "results_": results_table(choice, self.rows.n_features, self.units),
        }
        if auto.keep_estimators and not self.interrupted:
            found["estimators_"] = [
                estimator if other is best else self._fitted(other)
                for other in choice.candidates
            ]
        return found

    def _estimator(self, candidate: Candidate) -> Any:
        return estimator_of(
            candidate,
            self.units,
            self.interrupted,
            c_prime=self._c_prime(candidate),
            random_state=self.auto.random_state,
            kernel=self.auto.kernel,
        )

    def _fitted(self, candidate: Candidate) -> Any:
        """Return an estimator nobody has chosen, without warnings about it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            estimator = self._estimator(candidate)
            return estimator.fit(self.X, sample_weight=self.sample_weight)

    def _labels_of(self, candidate: Candidate) -> Array:
        kernel, coefficients = (
            get_kernel(self.auto.kernel),
            self._coefficients(candidate),
        )
        labels: Array = self.rows.map(
            lambda values, weights: kernel.nearest(values, coefficients)
        )
        return labels

    def _c_prime(self, candidate: Candidate) -> int:
        if self.auto.c_prime != "auto":
            return min(int(self.auto.c_prime), candidate.C)
        return smallest_c_prime(
            self.rows,
            self._coefficients(candidate),
            get_kernel(self.auto.kernel),
            float(self.auto.gap_tolerance),
        )

    def _coefficients(self, candidate: Candidate) -> Any:
        model = SHAPES[candidate.shape].model(np.zeros(self.rows.n_features))
        return model.coefficients(candidate.theta)
