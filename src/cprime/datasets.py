"""Data whose true clusters are known, from the paper's experiments."""

import math
from typing import Any, NamedTuple

import numpy as np

from cprime.typing import Array

# Distance of neighbouring centres of the BIRCH grid, in standard deviations
# (Zhang, Ramakrishnan & Livny 1996).
BIRCH_SPACING = 4.0 * math.sqrt(2.0)


class Sample(NamedTuple):
    """Rows drawn from equal, isotropic Gaussians, with the truth about them.

    Attributes
    ----------
    data : ndarray of shape (n_samples, 2)
    labels : ndarray of shape (n_samples,)
    centers : ndarray of shape (n_clusters, 2)
    variance : float
    """

    data: Array
    labels: Array
    centers: Array
    variance: float


def make_birch_grid(
    n_per_side: int = 5, n_per_cluster: int = 100, *, rng: Any = None
) -> Sample:
    """Draw clusters of unit variance with centres on a square grid.

    Parameters
    ----------
    n_per_side : int, default=5
        The grid has this many rows and columns of clusters, 4 sqrt(2) apart.
    n_per_cluster : int, default=100
    rng : int or Generator, optional
        Seed, or numpy generator to draw from.
    """
    ticks = BIRCH_SPACING * np.arange(n_per_side)
    centers = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    return _draw(centers, 1.0, n_per_cluster, np.random.default_rng(rng))


def make_birch_random(
    n_clusters: int = 25, n_per_cluster: int = 100, *, rng: Any = None
) -> Sample:
    """Draw clusters of unit variance with centres anywhere in a square.

    Some overlap, so hard assignment loses something here.

    Parameters
    ----------
    n_clusters : int, default=25
        Centres, uniform in a square of side 5 * 4 sqrt(2).
    n_per_cluster : int, default=100
    rng : int or Generator, optional
        Seed, or numpy generator to draw from.
    """
    rng = np.random.default_rng(rng)
    centers = rng.uniform(0.0, 5.0 * BIRCH_SPACING, size=(n_clusters, 2))
    return _draw(centers, 1.0, n_per_cluster, rng)


def make_seven_gaussians(n_per_cluster: int = 100_000, *, rng: Any = None) -> Sample:
    """Draw seven heavily overlapping clusters on which k-means misleads itself.

    Started at the truth, k-means raises its free energy while the likelihood falls; EM
    stays at the truth. The paper draws such an arrangement without printing it; this
    one, a ring of radius 0.81 and standard deviation 0.5, is our own.

    Parameters
    ----------
    n_per_cluster : int, default=100_000
    rng : int or Generator, optional
        Seed, or numpy generator to draw from.
    """
    angles = 2.0 * math.pi * np.arange(7) / 7.0
    centers = 0.81 * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return _draw(centers, 0.25, n_per_cluster, np.random.default_rng(rng))


def _draw(
    centers: Array, variance: float, n_per_cluster: int, rng: np.random.Generator
) -> Sample:
    labels = np.repeat(np.arange(len(centers)), n_per_cluster)
    noise = rng.standard_normal((len(labels), centers.shape[1]))
    data = centers[labels] + math.sqrt(variance) * noise
    return Sample(data, labels, centers, variance)
