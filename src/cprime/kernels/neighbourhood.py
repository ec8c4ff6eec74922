"""Which clusters do rows look at, if not all, and which are near which? In numpy."""

import numpy as np

from cprime.search import Near
from cprime.truncation import closest
from cprime.typing import Array

# Lists of so many clusters on the list of one are where those near it are looked for.
SPREAD = 8


def looked_at(K: Array, near: Near, first: int) -> Array:
    """Return which clusters rows look at that keep K, shape (B, C)."""
    B, C = len(K), len(near.lists)
    seen = np.zeros((B, C), dtype=bool)
    for some in (K, near.lists[K[:, 0]], near.drawn(first, B)):
        np.put_along_axis(seen, some, True, axis=1)
    return seen


def lists_among(scores: Array, lists: Array, count: int) -> tuple[Array, int]:
    """Return the `count` best on every list and on those of the first on it.

    Parameters
    ----------
    scores : ndarray of shape (C, C)
        Of the mean of each cluster under all. Changed in place.
    lists : ndarray of shape (C, any)
    count : int

    Returns
    -------
    lists : ndarray of shape (C, count), int32
        Best first.
    evaluations : int
        Scores that were looked at.
    """
    C = len(scores)
    seen = np.zeros((C, C), dtype=bool)
    for some in (lists, lists[lists[:, :SPREAD]].reshape(C, -1)):
        np.put_along_axis(seen, some, True, axis=1)
    scores[~seen] = np.inf
    return closest(scores, count), int(np.count_nonzero(seen))
