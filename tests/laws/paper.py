"""The paper's formulas, as plainly as numpy can write them: what the laws compare to.

X is (N, D) in float64, weights (N,), means (C, D). q is dense, (N, C), zero outside K.
"""

import numpy as np

EPS = float(np.finfo(np.float64).eps)


def squared_distances(X, means):
    """Return ||y - mu_c||^2, summed over features from the first to the last."""
    total = np.zeros((len(X), len(means)))
    for d in range(X.shape[1]):
        total = total + (X[:, d, None] - means[:, d]) ** 2
    return total


def log_joint(X, means, variance):
    """Return log p(c, y) = log(1/C) + log N(y; mu_c, sigma^2 I) (Eq. 2)."""
    C, D = means.shape
    normaliser = -np.log(C) - 0.5 * D * np.log(2.0 * np.pi * variance)
    return normaliser - 0.5 * squared_distances(X, means) / variance


def inside(K, C):
    """Return s_nc: whether row n keeps cluster c; all of them where K stores none."""
    kept = np.ones((len(K), C), dtype=bool)
    if K.shape[1] > 0:
        kept[:] = False
        np.put_along_axis(kept, K, True, axis=1)
    return kept


def labels(K, C):
    """Return the cluster of every row that keeps only one."""
    return inside(K, C).argmax(axis=1)


def log_sum(log_values, kept):
    """Return log sum_{c in K} exp(log_values_c) of every row."""
    return np.logaddexp.reduce(np.where(kept, log_values, -np.inf), axis=1)


def posterior(X, means, variance, kept):
    """Return q, the posterior truncated to K (Eq. 5)."""
    scores = np.where(kept, log_joint(X, means, variance), -np.inf)
    q = np.exp(scores - scores.max(axis=1, keepdims=True))
    return q / q.sum(axis=1, keepdims=True)


def mean(per_row, weights):
    """Return the weighted mean over rows, the 1/N sum_n of every formula."""
    return float(np.sum(weights * per_row) / np.sum(weights))


def entropies(q):
    """Return -sum_c q log q of every row."""
    return -np.sum(q * np.log(np.where(q > 0, q, 1.0)), axis=1)


def free_energy(X, weights, means, variance, kept):
    """Return F(K, Theta) = 1/N sum_n log sum_{c in K} p(c, y) (Eq. 7)."""
    return mean(log_sum(log_joint(X, means, variance), kept), weights)


def variational_free_energy(X, weights, means, variance, q):
    """Return F(q, Theta) = <log p(c, y)>_q + H(q)."""
    energies = np.sum(q * log_joint(X, means, variance), axis=1)
    return mean(energies + entropies(q), weights)


def rounding(*log_densities):
    """Return what float64 may cost a mean of at most some dozen log densities."""
    return 64 * EPS * (1.0 + max(map(abs, log_densities)))
