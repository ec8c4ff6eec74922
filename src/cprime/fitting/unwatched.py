"""Restarts that nobody looks on at: many in one call of compiled code."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from cprime import convergence, lloyd
from cprime.fitting.restarts import Ending, Restarts, Run, Start
from cprime.seeding import Seeds
from cprime.seeding_line import found_together


def run_unwatched(restarts: Restarts, starts: list[Start], dtype: Any) -> None:
    """Fit from all of these, as if it were one after another.

    Parameters
    ----------
    restarts : Restarts
        Of fits that are possible like this, as `lloyd.is_possible` knows.
    starts : list of Start
    dtype : dtype
        Of the means as they are returned.
    """
    assert isinstance(restarts.stop, convergence.Tolerance)
    seeds = found_together(starts)
    ended: list[lloyd.Ended | None] = []
    fit = partial(lloyd.fits, restarts.problem, restarts.stop, restarts.max_iter)
    try:
        fit(np.stack([of.means for of in seeds]), dtype, ended)
    except BaseException:
        _keep_complete(restarts, [_run(restarts, *of) for of in zip(seeds, ended)])
        raise
    for of, end in zip(seeds, ended):
        run = _run(restarts, of, end)
        if run is None:
            # Something unusual happened, which the loop in Python knows about.
            restarts.run(partial(_found, of), lambda steps: steps)
        else:
            restarts.consider(run)


def _keep_complete(restarts: Restarts, runs: list[Run | None]) -> None:
    """Remember what is complete, and what is under way, when someone interrupts."""
    for run in runs:
        if run is not None and run.fit is not None:
            restarts.consider(run)
    under_way = [run for run in runs if run is not None and run.fit is None]
    if under_way:
        restarts.becomes(replace(restarts.state, current=under_way[0]))


def _found(seeds: Seeds) -> Seeds:
    return seeds


def _run(restarts: Restarts, seeds: Seeds, ended: lloyd.Ended | None) -> Run | None:
    if ended is None:
        return None
    trace = _Trace(ended, restarts.results)
    evaluations = seeds.evaluations + ended.evaluations
    return Run(trace, ended.last, evaluations, ended.fit)


class _Trace(Sequence[dict[str, Any]]):
    """The lines of a trace, made when they are read: of most restarts they are not."""

    def __init__(self, ended: lloyd.Ended, results: Ending):
        self._ended = ended
        self._results = results

    @cached_property
    def _lines(self) -> list[dict[str, Any]]:
        return [self._results.traced(step) for step in self._ended.history()]

    def __len__(self) -> int:
        return len(self._ended.steps)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._lines)

    def __getitem__(self, place: Any) -> Any:
        return self._lines[place]
