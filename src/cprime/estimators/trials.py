"""What does a search say of every fit it tries?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cprime.selection.choice import Search
from cprime.selection.shapes import SHAPES


@dataclass(frozen=True)
class Trial:
    """What `AutoMixture` reports of every fit it tries: `fit(X, progress=callable)`.

    Attributes
    ----------
    shape : str
    n_clusters : int
    value : float
        Of the criterion; lower is better.
    best_shape : str
    best_n_clusters : int
        Of the best fit so far: what an interrupt would leave.
    n_tried : int
    seconds : float
        That the fit took.
    """

    shape: str
    n_clusters: int
    value: float
    best_shape: str
    best_n_clusters: int
    n_tried: int
    seconds: float


Listener = Callable[[Trial], Any]


def run(search: Search, progress: Listener | None) -> None:
    """Run a search to its end, and call a listener after every fit."""
    for n_tried, found in enumerate(search.run(), 1):
        if progress is not None:
            best = search.best()
            progress(
                Trial(
                    SHAPES[found.shape].covariance_type,
                    found.C,
                    search.criterion(found.scores),
                    SHAPES[best.shape].covariance_type,
                    best.C,
                    n_tried,
                    found.seconds,
                )
            )
