"""What is a cluster called, by what sets it apart from all rows?"""

from collections.abc import Sequence

from cprime.advice.wording import number, plain

# A mean this near to that of all rows, in their spreads, is nothing special.
UNREMARKABLE = 0.25
# From here on, it is very high or very low.
STRIKING = 1.5
# So many features make a name.
MOST_FEATURES = 3
LONGEST_NAME = 24
AVERAGE = "close to the average of all rows"


def cluster_name(
    names: Sequence[str], deviations: Sequence[float], values: Sequence[float]
) -> str:
    """Return 'very high proline (1,097), low hue (0.69)': what sets a cluster apart.

    Parameters
    ----------
    names : sequence of str
        Of the features.
    deviations : sequence of float
        How far the cluster's mean is above that of all rows, in their standard
        deviations.
    values : sequence of float
        The cluster's mean itself, in a user's units.
    """
    telling = sorted(range(len(names)), key=lambda d: -abs(deviations[d]))
    parts = [
        f"{_level(deviations[d])} {plain(names[d], LONGEST_NAME)} ({number(values[d])})"
        for d in telling[:MOST_FEATURES]
        if abs(deviations[d]) >= UNREMARKABLE
    ]
    return ", ".join(parts) or AVERAGE


def _level(deviation: float) -> str:
    level = "high" if deviation > 0 else "low"
    return f"very {level}" if abs(deviation) >= STRIKING else level
