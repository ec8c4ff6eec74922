"""Which few rows of every group come first?"""

import numpy as np

from cprime.typing import Array


class TopK:
    """The rows of lowest score in every group, of all that were ever offered.

    Rows of the same score are ordered by their numbers, so it does not matter in which
    blocks, or in which order, they come.

    Parameters
    ----------
    n_groups : int
    most : int
        Rows to keep in each.

    Attributes
    ----------
    scores : ndarray of shape (n_groups, most)
        Lowest first; infinite where there are not so many rows.
    rows : ndarray of shape (n_groups, most)
        Their numbers; -1 where there are not so many.
    """

    def __init__(self, n_groups: int, most: int):
        self.scores = np.full((n_groups, most), np.inf)
        self.rows = np.full((n_groups, most), -1, dtype=np.int64)

    def offer(self, groups: Array, scores: Array, rows: Array) -> None:
        """Look at more rows.

        Parameters
        ----------
        groups : ndarray of shape (B,)
        scores : ndarray of shape (B,)
            Finite.
        rows : ndarray of shape (B,)
            Never seen before.
        """
        promising = scores <= self.scores[groups, -1]
        if not promising.any():
            return
        n_groups, most = self.scores.shape
        kept = self.rows >= 0
        groups = np.concatenate([np.nonzero(kept)[0], groups[promising]])
        scores = np.concatenate([self.scores[kept], scores[promising]])
        rows = np.concatenate([self.rows[kept], rows[promising]])
        order = np.lexsort((rows, scores, groups))
        ordered = groups[order]
        first = np.searchsorted(ordered, np.arange(n_groups))
        rank = np.arange(len(ordered)) - first[ordered]
        chosen = rank < most
        place = (ordered[chosen], rank[chosen])
        self.scores[place] = scores[order][chosen]
        self.rows[place] = rows[order][chosen]
