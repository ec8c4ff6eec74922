"""Where on a line of masses does a random point fall?"""

import numpy as np

from cprime.typing import Array


def drawn(masses: Array, points: Array) -> Array:
    """Return the positions at these points in [0, 1) of the cumulated masses."""
    cumulated = np.cumsum(masses)
    found = np.searchsorted(cumulated, points * cumulated[-1], side="right")
    if found.max() == len(masses):
        # A point so close to 1 that rounding put it at the very end.
        found = np.minimum(found, np.flatnonzero(masses)[-1])
    positions: Array = found
    return positions
