"""How far is a fit?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cprime import em


@dataclass(frozen=True)
class Progress:
    """What a fit reports after every complete iteration: `fit(X, progress=callable)`.

    Attributes
    ----------
    restart : int
        Counted from 0.
    n_init : int
        How many restarts there will be.
    iteration : int
        Counted from 1.
    max_iter : int
        The most iterations a restart can have.
    free_energy : float
        F after the iteration, in nats per row. Of a `FuzzyKMeans` without a mixture it
        is minus the objective: what every iteration raises.
    changed : int
        Rows whose clusters changed.
    seconds : float
        That the iteration took.
    evaluations : int
        Distances it computed.
    n_rows : int
    converged : bool
        Whether it was the last one of this restart because nothing moves any more.
    """

    restart: int
    n_init: int
    iteration: int
    max_iter: int
    free_energy: float
    changed: int
    seconds: float
    evaluations: int
    n_rows: int
    converged: bool


Listener = Callable[[Progress], Any]


def notify(
    steps: Iterator[em.Step],
    listener: Listener,
    measured: Callable[[float], dict[str, Any]],
    **of_fit: int,
) -> Iterator[em.Step]:
    """Yield the steps of one restart, telling a listener of every complete iteration.

    Parameters
    ----------
    steps : iterator of Step
    listener : callable
    measured : callable
        What F is in a user's units, by name, as `Results` knows it.
    **of_fit : int
        What else `Progress` tells: restart, n_init, max_iter, n_rows.
    """
    for step in steps:
        # First it is recorded: a listener may end the fit.
        yield step
        if step.iteration > 0:
            told = measured(step.free_energy)
            free_energy = told.get("free_energy", -told.get("objective", 0.0))
            listener(
                Progress(
                    iteration=step.iteration,
                    free_energy=free_energy,
                    changed=step.changed,
                    seconds=step.seconds,
                    evaluations=step.evaluations,
                    converged=step.converged != "",
                    **of_fit,
                )
            )
