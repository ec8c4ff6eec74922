"""From which side are rows of many features looked at?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.models.matrices import whitening
from cprime.plots.clusters import Clusters
from cprime.typing import Array

# Spread that is rounding error beside the largest.
NOTHING = 1e-9
# Features that are named for a direction.
MENTIONED = 2


@dataclass(frozen=True)
class View:
    """One or two directions.

    Attributes
    ----------
    directions : ndarray of shape (1 or 2, D)
    names : tuple of str
        What to write along each axis.
    in_proportion : bool
        Whether both are in the same units.
    """

    directions: Array
    names: tuple[str, ...]
    in_proportion: bool = False


def of_features(features: Any, names: list[str]) -> View:
    """Return the view along one or two features, given by name or index."""
    found = [_index(feature, names) for feature in features]
    if len(found) not in (1, 2) or len(set(found)) < len(found):
        raise ValueError(f"features={features!r} should be two different features.")
    return View(np.eye(len(names))[found], tuple(names[d] for d in found))


def _index(feature: Any, names: list[str]) -> int:
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(
                f"{feature!r} is no feature of this fit. There are: "
                f"{', '.join(names[:8])}{', ...' if len(names) > 8 else ''}."
            )
        return names.index(feature)
    if not -len(names) <= feature < len(names):
        raise ValueError(
            f"There is no feature {feature}: the fit has {len(names)}, from 0 on."
        )
    return int(feature) % len(names)


def of_centres(clusters: Clusters, shares: Array, values: Array) -> View:
    """Return the two main directions of the centres, weighted by their rows.

    Two clusters differ in one direction only, one cluster in none: what is lacking is
    the main direction of the rows, across those.

    Parameters
    ----------
    clusters : Clusters
    shares : ndarray of shape (C,)
    values : ndarray of shape (N, D)
        Rows, finite.
    """
    names = clusters.names
    centred = clusters.means - shares @ clusters.means
    found, of_each = main_directions(np.sqrt(shares)[:, None] * centred)
    labels = [
        f"main direction {i + 1} of the centres ({100 * share:.0f} % of their spread; "
        f"mostly {_most(direction, names)})"
        for i, (direction, share) in enumerate(zip(found, of_each))
    ]
    if len(found) < 2:
        apart = values - values.mean(axis=0)
        apart = apart - apart @ found.T @ found
        more, _ = main_directions(apart)
        more = np.concatenate([more, np.eye(len(names))])
        for direction in more:
            # Rows that lie on a line leave nothing: any feature across it will do.
            across = direction - found.T @ (found @ direction)
            if len(found) < 2 and np.linalg.norm(across) > 0.1:
                found = np.vstack([found, across / np.linalg.norm(across)])
                labels.append(
                    f"main direction of the rows (mostly {_most(across, names)})"
                )
    return View(found, tuple(labels), in_proportion=True)


def main_directions(points: Array, at_most: int = 2) -> tuple[Array, Array]:
    """Return orthonormal main directions of points about 0, and their share of spread.

    As many as there are, at most two. Their sign is such that the largest entry is
    positive, so that a picture does not turn round from one machine to another.

    Parameters
    ----------
    points : ndarray of shape (N, D)
    at_most : int, default=2
    """
    _, spreads, found = np.linalg.svd(points, full_matrices=False)
    there = spreads > NOTHING * max(float(spreads.max(initial=0.0)), 1e-300)
    found, spreads = found[there], spreads[there] ** 2
    # Of entries that are equally large up to rounding, the first decides.
    large = np.abs(found) > (1.0 - 1e-9) * np.abs(found).max(axis=1, keepdims=True)
    decisive = np.take_along_axis(found, large.argmax(axis=1)[:, None], axis=1)
    shares = spreads / (spreads.sum() or 1.0)
    return (found * np.sign(decisive))[:at_most], shares[:at_most]


def of_separation(clusters: Clusters, shares: Array) -> tuple[Array, Array, bool]:
    """Return positions of the centres as seen from where they are best told apart.

    Distances count in standard deviations of the clusters (their average covariance),
    so that a feature's units do not matter: these are the axes of a linear discriminant
    analysis, and classical scaling of the centres' Mahalanobis distances.

    Parameters
    ----------
    clusters : Clusters
    shares : ndarray of shape (C,)

    Returns
    -------
    positions : ndarray of shape (C, 2)
    share : ndarray of shape (2,)
        Of the centres' spread along each axis.
    in_deviations : bool
        Whether there was a covariance to measure by.
    """
    means, in_deviations = clusters.means, clusters.covariance is not None
    if in_deviations:
        covariance = np.asarray(clusters.covariance, dtype=np.float64)
        if covariance.ndim == 3:
            pooled = (
                shares @ covariance.reshape(len(covariance), -1)
                if len(covariance) > 1
                else covariance[0]
            )
            D = means.shape[1]
            means = means @ whitening(pooled.reshape(1, D, D))[0].T
        else:
            means = means / np.sqrt(shares @ clusters.variances())
    centred = means - shares @ means
    found, of_each = main_directions(np.sqrt(shares)[:, None] * centred)
    positions, share = np.zeros((len(means), 2)), np.zeros(2)
    positions[:, : len(found)] = centred @ found.T
    share[: len(found)] = of_each
    return positions, share, in_deviations


def _most(direction: Array, names: list[str]) -> str:
    strongest = np.argsort(-np.abs(direction), kind="stable")[:MENTIONED]
    some = [d for d in strongest if abs(direction[d]) > 0.1]
    return " and ".join(names[d] for d in some)
