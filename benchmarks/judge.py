"""What did a contestant reach? One float64 yardstick for all of them."""

import numpy as np

Array = np.ndarray

# Contestants that start alike and do the same number of iterations may differ by the
# rounding of float32, not by more than this share of the objective.
SAME_OBJECTIVE = 1e-4
BLOCK = 4096


def objective(X: Array, centers: Array) -> float:
    """Return the sum of squared distances of rows to their nearest centre."""
    centers = np.asarray(centers, dtype=np.float64)
    # Measured from their middle, rows and centres are small and products keep digits.
    middle = centers.mean(axis=0)
    moved = centers - middle
    squares = np.sum(moved**2, axis=1)
    total = 0.0
    for start in range(0, len(X), BLOCK):
        rows = X[start : start + BLOCK] - middle
        nearest = np.argmin(squares - 2.0 * (rows @ moved.T), axis=1)
        total += float(np.sum((rows - moved[nearest]) ** 2))
    return total


def cost(X: Array, centers: Array, labels: Array) -> float:
    """Return the sum of squared distances of rows to the centre of their label."""
    centers = np.asarray(centers, dtype=np.float64)
    return sum(
        float(np.sum((X[rows] - centers[labels[rows]]) ** 2))
        for rows in (slice(i, i + BLOCK) for i in range(0, len(X), BLOCK))
    )
