"""What mixtures whose covariances are matrices have in common: full and tied."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cprime.blas import one_thread
from cprime.models import matrices
from cprime.models.gaussian import Gaussian
from cprime.stats import Stats
from cprime.theta import Coefficients, Theta
from cprime.typing import Array

# Share of the terms of a sum, whatever their signs, that may be rounding errors.
EPSILON = float(np.finfo(np.float64).eps)
ROUNDING = 16.0 * EPSILON


class _Whitened(NamedTuple):
    """Covariances of an M-step.

    Attributes
    ----------
    covariance, whitening : ndarray of shape (M, D, D)
    blurs : ndarray of shape (M,)
        What rounding errors of the scatter are multiplied by in what is gained.
    are_clear : bool
        Whether they are known to be above their floor.
    """

    covariance: Array
    whitening: Array
    blurs: Array
    are_clear: bool


class _Step(NamedTuple):
    """The M-step that led to a Theta: by which sums, and what it found."""

    stats: Stats
    scatter: Array
    blurs: Array


class MatrixGaussian(Gaussian):
    """Covariances, scatter and whitening have shape (M, D, D), M being C or 1.

    float64 holds the small eigenvalues of a long and flat covariance with few digits:
    of a whole matrix, what is left is eps times its largest eigenvalue. So F is counted
    from that of the sweep, where every row was measured from close up, and differences
    are taken before products; and an M-step whose covariance rounding has made worse
    than the one before leaves that in place.
    """

    @abstractmethod
    def weights(self, stats: Stats) -> Array:
        """Return the weight of the rows behind each matrix, shape (M,)."""

    @abstractmethod
    def mean_scatter(self, scatter: Array, stats: Stats, before: Theta) -> Array:
        """Return scatter by weight; a matrix of no rows stays as it was."""

    def whitening(self, covariance: Array) -> Array:
        return matrices.whitening(covariance)

    def remaining(self, scatter: Any, taken: Any) -> Any:
        return matrices.remaining(scatter, taken)

    def covariance(self, scatter: Array, stats: Stats, before: Theta) -> Array:
        return self._whitened(scatter, stats, before).covariance

    def with_covariance(
        self, theta: Theta, scatter: Array, stats: Stats, before: Theta
    ) -> Theta:
        found = self._whitened(scatter, stats, before)
        theta = replace(theta, covariance=found.covariance)
        theta.once("_whitening", lambda: found.whitening)
        theta.once("_step", lambda: _Step(stats, scatter, found.blurs))
        if found.are_clear:
            theta.once("_are_clear", lambda: True)
        return theta

    def scatter(self, theta: Theta, stats: Stats, about: Theta) -> Array:
        # F is asked for where the M-step has just been.
        step: _Step | None = theta.noted("_step")
        if step is not None and step.stats is stats:
            return step.scatter
        return super().scatter(theta, stats, about)

    def _whitened(self, scatter: Array, stats: Stats, before: Theta) -> "_Whitened":
        """Return the covariances of a scatter, their whitening, and what is known."""
        floor = self._floors(scatter.shape[-1])
        found = self.mean_scatter(scatter, stats, before)
        old, new = self.whitening_of(before), matrices.whitening_if_clear(found, floor)
        are_clear = new is not None
        if new is None:
            found = matrices.clipped(found, floor)
            new = self.whitening(found)
        gains = self.weights(stats) * _log_ratios(new, old)
        gains -= 0.5 * _energy_differences(scatter, new, old)
        blurs = _blurs(stats.scatter, new, old)
        gains -= EPSILON * blurs
        worse = np.flatnonzero(gains <= 0)
        if len(worse) > 0:
            # One that is too flat, as a user may have given it, must not stay.
            kept = worse[~matrices.too_flat(before.covariance[worse], floor)]
            found[kept], new[kept] = before.covariance[kept], old[kept]
            blurs[kept], are_clear = 0.0, are_clear and len(kept) == 0
        return _Whitened(found, new, blurs, are_clear)

    def _floors(self, D: int) -> Array:
        """Return the floor of every feature."""
        found: Array = self.floor if np.ndim(self.floor) else np.full(D, self.floor)
        return found

    def clipped(self, covariance: Array) -> Array:
        return matrices.clipped(covariance, self._floors(covariance.shape[-1]))

    def _clipped_ones(self, theta: Theta) -> list[int]:
        """Return which matrices are at the floor."""
        floor = self._floors(theta.means.shape[1])
        covariance, whitening = theta.covariance, self.whitening_of(theta)
        if theta.once(
            "_are_clear", lambda: matrices.are_clear(covariance, whitening, floor)
        ):
            return []
        return matrices.clipped_ones(theta.covariance, floor)

    def energy(self, scatter: Array, whitening: Array) -> float:
        return float(np.sum((whitening @ scatter) * whitening))

    @one_thread()
    def free_energy(self, theta: Theta, stats: Stats, about: Theta) -> float:
        """Return F(q, theta), as far above that of the sweep as theta is better."""
        old, new = self.coefficients(about), self.coefficients(theta)
        scatter = self.scatter(theta, stats, about)
        rough = self._expected(new, scatter, stats)
        blur = ROUNDING * _sum_of_sizes(scatter, new.whitening) / stats.weight
        gain = _gain(theta, stats, about, new, old)
        # After a long step F errs on the safe side, or the next could be lower.
        step: _Step | None = theta.noted("_step")
        if step is not None and step.stats is stats:
            blurs = step.blurs
        else:
            blurs = _blurs(stats.scatter, new.whitening, old.whitening)
        gain -= EPSILON * float(np.sum(blurs))
        fine = (stats.free_energy + gain) / stats.weight
        # Where theta is far from that of the sweep, large numbers may cancel in `fine`.
        return float(np.clip(fine, rough - blur, rough + blur))


def _gain(
    theta: Theta, stats: Stats, about: Theta, new: Coefficients, old: Coefficients
) -> float:
    """Return by how much theta raises the sum over all rows of log p(y, c)."""
    # As rows, so that the matrices of all clusters, or the one, multiply them.
    triangles = np.swapaxes(new.whitening, -1, -2)
    steps = (theta.means - about.means)[:, None, :] @ triangles
    shifts = stats.shifts[:, None, :] @ triangles
    energy = np.sum(_energy_differences(stats.scatter, new.whitening, old.whitening))
    energy += np.sum(steps * (stats.counts[:, None, None] * steps - 2.0 * shifts))
    return float(np.sum(stats.counts * (new.bias - old.bias)) - 0.5 * energy)


def _log_ratios(new: Array, old: Array) -> Array:
    """Return log |W_new| - log |W_old| of every triangle."""
    of_new, of_old = (W.diagonal(axis1=-2, axis2=-1) for W in (new, old))
    ratios: Array = np.log(of_new / of_old).sum(axis=-1)
    return ratios


def _energy_differences(scatter: Array, new: Array, old: Array) -> Array:
    """Return trace(W S W^T) of the new triangles minus that of the old ones.

    Rounding errors of a flat scatter count by how much the triangles differ.
    """
    differences: Array = np.sum(((new - old) @ scatter) * (new + old), axis=(-2, -1))
    return differences


def _blurs(scatter: Array, new: Array, old: Array) -> Array:
    """Return what rounding errors of a scatter are multiplied by in the differences.

    They are as large as its diagonal lets its entries be.
    """
    sizes = np.sqrt(scatter.diagonal(axis1=-2, axis2=-1))[..., None]
    blurs: Array = np.sum(
        (np.abs(new - old) @ sizes) * (np.abs(new + old) @ sizes), axis=(-2, -1)
    )
    return blurs


def _sum_of_sizes(scatter: Array, whitening: Array) -> float:
    """Return what the terms of trace(W S W^T) of all matrices add up to without signs.

    Feature by feature, for each may have its own scale.
    """
    return float(np.sum((np.abs(whitening) @ np.abs(scatter)) * np.abs(whitening)))
