"""In which order do rows stand that is not the one they come in?"""

import numpy as np

from cprime.typing import Array

# Keys as if drawn at random: the mixing function of SplitMix64 (Steele, Lea & Flood
# 2014) shifts, and multiplies by these.
MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
SHIFTS = (30, 27, 31)


def places_by_value(rows: Array) -> Array:
    """Return a number for every row, the same for copies, in the order of values.

    As `numpy.unique` finds it, at a fraction of the time where rows are few.
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    differs = np.any(ordered[1:] != ordered[:-1], axis=1)
    found = np.empty(len(rows), dtype=np.intp)
    found[order] = np.concatenate([[0], np.cumsum(differs)])
    return found
