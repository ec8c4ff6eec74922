"""How good is a mixture, and how much does truncation lose?

F is the free energy, L the log-likelihood, and their difference a KL divergence, all as
weighted means per row. For every choice of clusters K: F(K, Theta) <= L(Theta).
"""

import math
from typing import Any

import numpy as np

from cprime.kernels import Kernel, free_energies, reference
from cprime.rows import Rows, as_rows
from cprime.stats import weighted_sum
from cprime.theta import Coefficients
from cprime.truncation import Truncated
from cprime.typing import Array


def free_energy(
    X: Any,
    coefficients: Coefficients,
    *,
    C_prime: int = 1,
    K: Any = None,
    kernel: Kernel = reference,
) -> float:
    """Return F(K, Theta), the bound on the log-likelihood that every fit raises.

    ``F = 1/N sum_n log sum_{c in K_n} p(c, y_n | Theta)`` (Eq. 7)

    Parameters
    ----------
    X : Rows, or array of shape (N, D)
    coefficients : Coefficients
        Of a model under some Theta: `Isotropic().coefficients(theta)`.
    C_prime : int, default=1
        Every row keeps its C' closest clusters, unless K is given.
    K : array of shape (N, any), optional
        The clusters each row keeps, all different within a row.
    kernel : Kernel, optional
    """
    rows, K = _checked(X, coefficients, C_prime, K)

    def energies(values: Array, weights: Array, *K_block: Array) -> Array:
        if not K_block:
            return free_energies(kernel, values, coefficients, C_prime)
        return _truncated(kernel, values, coefficients, *K_block).free_energies()

    return rows.mean(energies, *_given(K))


def log_likelihood(
    X: Any, coefficients: Coefficients, *, kernel: Kernel = reference
) -> float:
    """Return L(Theta) = 1/N sum_n log p(y_n | Theta) (Eq. 3)."""
    return free_energy(X, coefficients, C_prime=len(coefficients.means), kernel=kernel)


def gap(
    X: Any,
    coefficients: Coefficients,
    *,
    C_prime: int = 1,
    K: Any = None,
    kernel: Kernel = reference,
) -> float:
    """Return L - F, the nats per row lost by looking at the clusters in K alone.

    It is the KL divergence from the truncated to the full posterior. For C' = 1 and the
    sigma^2 of k-means it is the gap of Prop. 3. Parameters as for `free_energy`.
    """
    rows, K = _checked(X, coefficients, C_prime, K)
    return rows.mean(_gaps(coefficients, C_prime, kernel), *_given(K))


def gap_per_row(
    X: Any,
    coefficients: Coefficients,
    *,
    C_prime: int = 1,
    K: Any = None,
    kernel: Kernel = reference,
) -> Array:
    """Return the gap of every row, shape (N,): large where clusters overlap.

    ``gap_n = log(1 + sum_{c not in K} p(c, y) / sum_{c in K} p(c, y))``, never formed
    by subtraction, so a gap of 1e-20 is not reported as zero.
    """
    rows, K = _checked(X, coefficients, C_prime, K)
    lost: Array = rows.map(_gaps(coefficients, C_prime, kernel), *_given(K))
    return lost


def gap_per_cluster(
    X: Any,
    coefficients: Coefficients,
    *,
    C_prime: int = 1,
    K: Any = None,
    kernel: Kernel = reference,
) -> Array:
    """Return the mean gap of the rows closest to each cluster, shape (C,).

    A cluster that is closest to no row has lost nothing: its gap is 0.
    """
    rows, K = _checked(X, coefficients, C_prime, K)
    C = len(coefficients.means)
    gaps = _gaps(coefficients, C_prime, kernel)

    def sums(values: Array, weights: Array, *K_block: Array) -> Array:
        labels = kernel.nearest(values, coefficients)
        lost = weights * gaps(values, weights, *K_block)
        return np.stack(
            [np.bincount(labels, of, minlength=C) for of in (lost, weights)]
        )

    lost, weight = rows.reduce(sums, *_given(K))
    mean: Array = lost / np.where(weight > 0, weight, 1.0)
    return mean


def variational_free_energy(
    X: Any,
    coefficients: Coefficients,
    q: Any,
    K: Any,
    *,
    kernel: Kernel = reference,
) -> float:
    """Return F(q, Theta) for any distributions q over the clusters in K.

    ``F = 1/N sum_n sum_{c in K_n} q_c log p(c, y_n | Theta) + 1/N sum_n H(q)``

    It is highest, and equal to `free_energy`, when q is the truncated posterior.

    Parameters
    ----------
    X, coefficients, kernel
        As for `free_energy`.
    q : array of shape (N, any)
        Not negative, rows summing to one; zeros are allowed.
    K : array of the same shape
    """
    rows, K = _checked(X, coefficients, 1, K)
    q = np.asarray(q, dtype=np.float64)

    def log_joint(values: Array, weights: Array, K_block: Array) -> tuple[Array, ...]:
        kept = _truncated(kernel, values, coefficients, K_block)
        return kept.highest + kept.relative, weights

    expected, weights = rows.map(log_joint, K)
    surprise = np.log(np.where(q > 0, q, 1.0))
    energies = (q * np.where(q > 0, expected - surprise, 0.0)).sum(axis=1)
    return weighted_sum(weights, energies) / float(np.sum(weights))


def free_energy_of_variance(variance: float, C: int, D: int) -> float:
    """Return F of k-means, a function of sigma^2 alone (Prop. 3).

    ``F = -log C - D/2 log(2 pi e sigma^2)``, where ``sigma^2 = J / (D N)`` belongs to
    the labels and means of one and the same iteration.
    """
    return -math.log(C) - 0.5 * D * math.log(2.0 * math.pi * math.e * variance)


def free_energy_of_quantization_error(
    quantization_error: float, weight: float, C: int, D: int
) -> float:
    """Return F of k-means as a function of its objective J (Cor. 2).

    Parameters
    ----------
    quantization_error : float
        J, scikit-learn's `inertia_`.
    weight : float
        Number of rows N, or the sum of their weights.
    C, D : int
    """
    return free_energy_of_variance(quantization_error / (D * weight), C, D)


def free_energy_of_entropy(
    variance: float, entropy: float, C: int, D: int, variance_new: float | None = None
) -> float:
    """Return F of k-means-C' from its variance and the mean entropy of q (Prop. 4).

    ``F = -log C - D/2 log(2 pi e sigma^2) + D/2 (1 - sigma^2_new / sigma^2) + H``, with
    H the mean entropy.

    Parameters
    ----------
    variance : float
        The sigma^2 under which q was computed.
    entropy : float
        Mean over rows of H(q).
    C, D : int
    variance_new : float, optional
        ``1/(D N) sum q ||y - mu||^2`` about the *current* means. Left out, it is taken
        to equal `variance`, which is true after convergence.
    """
    ratio = 1.0 if variance_new is None else variance_new / variance
    limit = free_energy_of_variance(variance, C, D)
    return limit + 0.5 * D * (1.0 - ratio) + entropy


def _gaps(coefficients: Coefficients, C_prime: int, kernel: Kernel) -> Any:
    C = len(coefficients.means)

    def gaps(values: Array, weights: Array, *K_block: Array) -> Array:
        if K_block:
            return kernel.gaps(values, K_block[0], coefficients)
        if C_prime == C:
            return np.zeros(len(values))
        K = kernel.posterior(values, coefficients, C_prime).K
        return kernel.gaps(values, K, coefficients)

    return gaps


def _truncated(
    kernel: Kernel,
    values: Array,
    coefficients: Coefficients,
    K: Array,
) -> Truncated:
    """Return rows that keep the clusters K, whichever those are."""
    everything = kernel.posterior(values, coefficients, len(coefficients.means))
    distances = np.empty(everything.K.shape)
    np.put_along_axis(distances, everything.K, everything.distances, axis=1)
    return Truncated.of(distances, K, coefficients)


def _given(K: Array | None) -> tuple[Array, ...]:
    return () if K is None else (K,)


def _checked(
    X: Any, coefficients: Coefficients, C_prime: int, K: Any
) -> tuple[Rows, Array | None]:
    """Return X and K as rows and array, if they go with the coefficients."""
    rows, (C, D) = as_rows(X), coefficients.means.shape
    if rows.n_features != D:
        raise ValueError(f"X has {rows.n_features} features, but the means have {D}.")
    if not 1 <= C_prime <= C:
        raise ValueError(f"C_prime={C_prime} should be between 1 and C={C}.")
    if K is None:
        return rows, None
    if rows is X:
        # A fit asks, and its sweep has found them.
        return rows, K
    K = np.asarray(K)
    if K.ndim != 2 or len(K) != rows.n_rows:
        raise ValueError(f"K has shape {K.shape}: X has {rows.n_rows} rows.")
    ordered = np.sort(K, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]).any()
    if repeated or ordered.min() < 0 or ordered.max() >= C:
        raise ValueError(
            f"K must hold, for every row, different clusters from 0 to {C - 1}."
        )
    return rows, K
