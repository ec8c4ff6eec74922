"""One task, run many times: what did every run return?"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from benchmarks.harness import Timed, interleave
from benchmarks.settings import Settings


class Repeated:
    """A task that is told how often it ran before, and remembers what it returned."""

    def __init__(self, task: Callable[[int], Any]) -> None:
        self._task = task
        self.outcomes: list[Any] = []

    def __call__(self) -> None:
        self.outcomes.append(self._task(len(self.outcomes)))


def by_turns(
    tasks: Mapping[Hashable, Callable[[int], Any]],
    settings: Settings,
    rounds: int | None,
    warm_ups: Mapping[Hashable, Callable[[], Any]],
) -> dict[Any, Timed]:
    """Time tasks that get the number of their run, such as a seed, however long.

    Returns
    -------
    timed : dict of Timed
        The outcome of each is a list, of all its runs.
    """
    repeated = {key: Repeated(task) for key, task in tasks.items()}
    timed = interleave(
        repeated, settings, rounds=rounds, warm_ups=warm_ups, long=float("inf")
    )
    return {key: Timed(timed[key].times, repeated[key].outcomes) for key in tasks}
