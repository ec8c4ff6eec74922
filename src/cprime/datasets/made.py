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

    Some overlap, so hard labels lose something here.

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
    """Draw seven overlapping clusters that mislead k-means.

    Started at the truth, k-means raises its free energy while the likelihood falls,
    pushing close clusters apart; EM stays at the truth. The paper draws such an
    arrangement without printing it. This one is our own: a close pair at each corner
    of a triangle, and one cluster in its middle.

    Parameters
    ----------
    n_per_cluster : int, default=100_000
    rng : int or Generator, optional
        Seed, or numpy generator to draw from.
    """
    angles = math.pi / 2.0 + 2.0 * math.pi / 3.0 * np.arange(3)
    corners = 1.25 * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    apart = 0.125 * np.stack([-np.sin(angles), np.cos(angles)], axis=-1)
    centers = np.concatenate([corners + apart, corners - apart, np.zeros((1, 2))])
    return _draw(centers, 0.415**2, n_per_cluster, np.random.default_rng(rng))


def _draw(
    centers: Array, variance: float, n_per_cluster: int, rng: np.random.Generator
) -> Sample:
    labels = np.repeat(np.arange(len(centers)), n_per_cluster)
    noise = rng.standard_normal((len(labels), centers.shape[1]))
    data = centers[labels] + math.sqrt(variance) * noise
    return Sample(data, labels, centers, variance)
