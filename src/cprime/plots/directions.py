"""From which side are rows of many features looked at?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.models.matrices import whitening
from cprime.plots.clusters import Clusters
from cprime.typing import Array

# Spread that is rounding error beside the largest.
NOTHING = 1e-9
# Centres farther out than so many times the median count as if they were there.
FARTHEST = 3.0
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

    def project(self, values: Array) -> Array:
        """Return rows along the directions, NaN where what is needed is missing."""
        needed = (self.directions != 0).any(axis=0)
        projected: Array = values[:, needed] @ self.directions[:, needed].T
        return projected


def view_of(
    clusters: Clusters, shares: Array, values: Array, features: Any = None
) -> View:
    """Return how to look at rows: along the features asked for, or all, if few.

    Else along the main directions of the centres.

    Parameters
    ----------
    clusters : Clusters
    shares : ndarray of shape (C,)
        Of the rows.
    values : ndarray of shape (N, D)
        Rows, finite.
    features : pair of str or int, optional
    """
    D = len(clusters.names)
    if features is None and D > 2:
        return of_centres(clusters, shares, values)
    return of_features(range(D) if features is None else features, clusters.names)


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
                f"{feature!r} is not a feature of this fit. Its features are: "
                f"{', '.join(names[:8])}{', ...' if len(names) > 8 else ''}."
            )
        return names.index(feature)
    if not -len(names) <= feature < len(names):
        raise ValueError(
            f"There is no feature {feature}: the fit has {len(names)}, counted from 0."
        )
    return int(feature) % len(names)


def of_centres(clusters: Clusters, shares: Array, values: Array) -> View:
    """Return the two main directions of the centres, weighted by their rows.

    Centres very far out count as if they were nearer, or they alone would decide.

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
    found, of_each = main_directions(_rein_in(clusters.means, shares))
    labels = [
        f"direction {i + 1}, {100 * share:.0f} % of spread: {_most(direction, names)}"
        for i, (direction, share) in enumerate(zip(found, of_each))
    ]
    if len(found) < 2:
        apart = values - values.sum(axis=0) / max(len(values), 1)
        apart = apart - apart @ found.T @ found
        more, _ = main_directions(apart)
        more = np.concatenate([more, np.eye(len(names))])
        for direction in more:
            # Rows that lie on a line leave nothing: any feature across it will do.
            across = direction - found.T @ (found @ direction)
            if len(found) < 2 and np.linalg.norm(across) > 0.1:
                found = np.vstack([found, across / np.linalg.norm(across)])
                labels.append(f"direction 2, that of the rows: {_most(across, names)}")
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


def of_separation(clusters: Clusters, shares: Array) -> tuple[Array, Array]:
    """Return positions of the centres as seen from where they are best told apart.

    Distances count in standard deviations of the clusters (their average covariance),
    so that a feature's units do not matter: these are the axes of a linear discriminant
    analysis, and classical scaling of the centres' Mahalanobis distances. Centres very
    far out do not decide alone.

    Parameters
    ----------
    clusters : Clusters
    shares : ndarray of shape (C,)

    Returns
    -------
    positions : ndarray of shape (C, 2)
    share : ndarray of shape (2,)
        Of the centres' spread along each axis.
    """
    means = clusters.means
    if clusters.covariance is not None:
        covariance = np.asarray(clusters.covariance, dtype=np.float64)
        if covariance.ndim == 3:
            pooled = covariance[0]
            if len(covariance) > 1:
                pooled = np.tensordot(shares, covariance, axes=1)
            means = means @ whitening(pooled).T
        else:
            means = means / np.sqrt(shares @ clusters.variances())
    found, of_each = main_directions(_rein_in(means, shares))
    positions, share = np.zeros((len(means), 2)), np.zeros(2)
    positions[:, : len(found)] = (means - _median(means, shares)) @ found.T
    share[: len(found)] = of_each
    return positions, share


def _rein_in(means: Array, shares: Array) -> Array:
    """Return what each centre contributes to the spread of all, within reason."""
    apart = means - _median(means, shares)
    lengths = np.sqrt((apart**2).sum(axis=1))
    typical = float(_median(lengths[:, None], shares)[0]) or lengths.max()
    factors = np.minimum(FARTHEST * typical, lengths) / np.where(
        lengths > 0, lengths, 1
    )
    near = factors[:, None] * apart
    tamed: Array = np.sqrt(shares)[:, None] * (near - shares @ near)
    return tamed


def _median(values: Array, shares: Array) -> Array:
    """Return the weighted median of every column."""
    order = np.argsort(values, axis=0, kind="stable")
    half = (np.cumsum(shares[order], axis=0) >= 0.5 * shares.sum()).argmax(axis=0)
    columns = np.arange(values.shape[1])
    medians: Array = values[order[half, columns], columns]
    return medians


def _most(direction: Array, names: list[str]) -> str:
    strongest = np.argsort(-np.abs(direction), kind="stable")[:MENTIONED]
    some = [d for d in strongest if abs(direction[d]) > 0.1]
    return ", ".join(names[d] for d in some)
