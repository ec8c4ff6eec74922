"""A mixture that may be the answer: fitted from a given start, and judged."""

import math
from dataclasses import dataclass, replace

import numpy as np

from cprime import convergence, em
from cprime.blas import one_thread
from cprime.kernels import Kernel
from cprime.models import Model
from cprime.problem import Problem
from cprime.rows import Rows
from cprime.search import Exact
from cprime.selection.criteria import Scores
from cprime.selection.journal import FORGETS, Journal
from cprime.selection.shapes import SHAPES, Shape, discount
from cprime.theta import Theta
from cprime.typing import Array

# Clusters a row keeps while parameters are still being found.
KEPT = 5
# Share of what one parameter costs that a further iteration must gain.
WORTH_AN_ITERATION = 0.05
# A full covariance needs more rows than this times its features.
ROWS_PER_FEATURE = 2.0
# Shares are taken to be less than one by this much: a loss is then a number.
NEXT_TO_ONE = 1.0 - 1e-15


@dataclass(frozen=True, eq=False)
class Candidate:
    """A fitted mixture and what criteria need to know of it.

    Attributes
    ----------
    shape : str
    theta : Theta
    scores : Scores
    seconds : float, default=0.0
        That it took to find.
    """

    shape: str
    theta: Theta
    scores: Scores
    seconds: float = 0.0

    @property
    def C(self) -> int:
        return len(self.theta.means)

    @property
    def key(self) -> tuple[str, int, float]:
        """What tells it from all other fits to the same rows."""
        return self.shape, self.C, self.scores.log_likelihood


@dataclass(frozen=True)
class Fitter:
    """Fits mixtures of one shape to the same rows again and again.

    Attributes
    ----------
    rows : Rows
    kernel : Kernel
    shape : str
    floor : ndarray of shape (D,)
        Smallest variance of every feature.
    weight : float
        Sum of the rows' weights.
    held_out : Rows, optional
        Rows no fit may see, to judge it by.
    journal : Journal, optional
        Remembers what was computed.
    """

    rows: Rows
    kernel: Kernel
    shape: str
    floor: Array
    weight: float
    held_out: Rows | None = None
    journal: Journal = FORGETS

    @property
    def of(self) -> Shape:
        return SHAPES[self.shape]

    @property
    def model(self) -> Model:
        return self.of.model(self.floor)

    def problem(self, C_prime: int) -> Problem:
        return Problem(self.rows, self.model, Exact(), self.kernel, C_prime)

    def affords(self, C: int) -> bool:
        """Return whether there are rows enough for the parameters of C clusters.

        With fewer, BIC loves slivers.
        """
        D = self.rows.n_features
        if C > 1 and self.shape == "full" and self.weight <= ROWS_PER_FEATURE * D * C:
            return False
        return C == 1 or self.model.n_parameters(C, D) < self.weight

    def refined(self, theta: Theta, max_iter: int, C_prime: int = KEPT) -> Theta:
        """Return better parameters, by some iterations from those given."""
        return self.journal.recall(lambda: self._refined(theta, max_iter, C_prime))

    # Entered once here, and not for every product of an iteration.
    @one_thread()
    def _refined(self, theta: Theta, max_iter: int, C_prime: int) -> Theta:
        tolerance = WORTH_AN_ITERATION * math.log(self.weight) / self.weight
        stop = convergence.Gain(tolerance)
        problem = self.problem(min(C_prime, len(theta.means)))
        for step in em.steps_from(problem, theta, stop, max_iter):
            theta = step.theta
        return theta

    def judged(self, theta: Theta) -> Candidate:
        """Return parameters with all that criteria look at."""
        scores = self.journal.recall(lambda: self._scores(theta))
        return Candidate(self.shape, theta, scores)

    def _scores(self, theta: Theta) -> Scores:
        C, D = theta.means.shape
        log_likelihood, entropy = self._swept(self.rows, theta, C)
        free_energy, held_out = log_likelihood, math.nan
        if C > 1:
            free_energy, _ = self._swept(self.rows, theta, 1)
        if self.held_out is not None:
            held_out, _ = self._swept(self.held_out, theta, C)
        n_parameters = self.model.n_parameters(C, D)
        return Scores(
            free_energy,
            log_likelihood,
            entropy,
            n_parameters,
            self.weight,
            held_out,
            discount(theta, self.weight),
        )

    def free_energy(self, theta: Theta, C_prime: int) -> float:
        """Return F of parameters as they are, with so many clusters a row."""
        found: float = self.journal.recall(
            lambda: self._swept(self.rows, theta, C_prime)[0]
        )
        return found

    def fitted(self, theta: Theta, max_iter: int) -> Candidate:
        """Return a judged fit from this start."""
        return self.judged(self.refined(theta, max_iter))

    def labels(self, theta: Theta) -> Array:
        """Return the most likely cluster of every row."""
        coefficients = self.model.coefficients(theta)
        labels: Array = self.rows.map(
            lambda values, weights: self.kernel.nearest(values, coefficients)
        )
        return labels

    def removal_losses(self, theta: Theta) -> Array:
        """Return the nats of L that go with each cluster: -sum log(1 - r_c).

        Exact for its few nearest neighbours, without a refit.
        """
        C = len(theta.means)
        coefficients, kept = self.model.coefficients(theta), min(C, KEPT)

        def losses(values: Array, weights: Array) -> Array:
            found = self.kernel.posterior(values, coefficients, kept)
            shares = np.minimum(found.responsibilities(), NEXT_TO_ONE)
            of_rows = -np.log1p(-shares) * weights[:, None]
            lost: Array = np.bincount(found.K.ravel(), of_rows.ravel(), minlength=C)
            return lost

        lost: Array = self.rows.reduce(losses)
        return lost

    def hard_removal_losses(self, theta: Theta) -> Array:
        """Return the nats that rows of each cluster pay to go to their second closest.

        Of round clusters, at C' = 1.
        """
        C = len(theta.means)
        if C == 1:
            return np.array([np.inf])
        coefficients = self.model.coefficients(theta)

        def losses(values: Array, weights: Array) -> Array:
            found = self.kernel.posterior(values, coefficients, 2)
            extra = (found.distances[:, 1] - found.distances[:, 0]) * weights
            lost: Array = np.bincount(found.K[:, 0], extra, minlength=C)
            return lost

        lost: Array = self.rows.reduce(losses) * coefficients.sharpness
        return lost

    def _swept(self, rows: Rows, theta: Theta, C_prime: int) -> tuple[float, float]:
        """Return F and the entropy of these rows, per unit of weight."""
        problem = replace(self.problem(C_prime), rows=rows)
        _, stats = problem.sweep(theta, None, last=True)
        return stats.free_energy / stats.weight, stats.entropy / stats.weight
