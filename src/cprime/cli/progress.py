"""How far is it? A bar for a terminal, lines for a pipe, JSON for a program."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cprime.cli import words
from cprime.cli.console import Voice

# A pipe gets a line so often at most, a program too.
SECONDS_BETWEEN_LINES = 5.0
# Speed is that of so many iterations, or blocks, before now.
RECENT = 20


class Follower:
    """Follows a piece of work and says how far it is; this one says nothing.

    A fit tells it of every iteration: it is what `fit(progress=...)` wants.
    """

    def stage(self, doing: str) -> None:
        """Say what begins now; nobody knows how long it takes."""

    def __call__(self, iteration: Any) -> None:
        """Take note of an iteration of a fit, a `cprime.Progress`."""

    def rows(self, done: int, total: int) -> None:
        """Take note of how many of all rows are done."""


class Pace:
    """How fast it went lately.

    Every mark is a moment and how much was done by then.
    """

    def __init__(self) -> None:
        self._marks: deque[tuple[float, float]] = deque(maxlen=RECENT)

    def mark(self, done: float) -> None:
        if self._marks and done < self._marks[-1][1]:
            self._marks.clear()
        self._marks.append((time.monotonic(), done))

    @property
    def per_second(self) -> float:
        """Return units of work per second; 0 if that is not known yet."""
        if len(self._marks) < 2:
            return 0.0
        (start, before), (now, done) = self._marks[0], self._marks[-1]
        return (done - before) / max(now - start, 1e-9)


class Teller(Follower):
    """Knows what to say of an iteration, or of rows, and leaves how to others."""

    def __init__(self, voice: Voice):
        self._voice = voice
        self._pace = Pace()
        self._n_iterations = 0

    def __call__(self, iteration: Any) -> None:
        if iteration.iteration > 0:
            self._n_iterations += 1
        self._pace.mark(self._n_iterations)
        per_second = self._pace.per_second
        at_most = iteration.n_init * iteration.max_iter
        done = iteration.restart * iteration.max_iter + iteration.iteration
        self.show(
            {
                "restart": iteration.restart + 1,
                "restarts": iteration.n_init,
                "iteration": iteration.iteration,
                "max_iter": iteration.max_iter,
                "free_energy": iteration.free_energy,
                "rows_per_second": per_second * iteration.n_rows,
                "seconds_left_at_most": (
                    (at_most - done) / per_second if per_second else None
                ),
            },
            done / at_most,
        )

    def rows(self, done: int, total: int) -> None:
        self._pace.mark(done)
        per_second = self._pace.per_second
        left = (total - done) / per_second if per_second else None
        self.show(
            {
                "rows": done,
                "of_rows": total,
                "rows_per_second": per_second,
                "seconds_left": left,
            },
            done / max(total, 1),
        )

    def show(self, values: dict[str, Any], share: float) -> None:
        """Show how far it is; `share` of it is done, at least."""
        raise NotImplementedError


class Lines(Teller):
    """A plain line now and then, or one of JSON."""

    def __init__(self, voice: Voice):
        super().__init__(voice)
        self._last = time.monotonic()

    def stage(self, doing: str) -> None:
        if self._voice.json:
            self._voice.event("stage", doing=doing)
        else:
            self._voice.err.print(f"{doing} ...", markup=False)

    def show(self, values: dict[str, Any], share: float) -> None:
        now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        if self._voice.json:
            self._voice.event("progress", **values)
        else:
            self._voice.err.print(", ".join(_in_words(values)), markup=False)


class Bar(Teller):
    """A bar on a terminal, and beside it what is known."""

    def __init__(self, voice: Voice, bar: Any):
        super().__init__(voice)
        self._bar = bar
        self._task = bar.add_task("", total=None, known="")

    def stage(self, doing: str) -> None:
        self._bar.reset(self._task, total=None, description=doing, known="")

    def show(self, values: dict[str, Any], share: float) -> None:
        where, *known = _in_words(values)
        self._bar.update(
            self._task,
            total=1.0,
            completed=share,
            description=where,
            known="  ".join(known),
        )


def _in_words(values: dict[str, Any]) -> Iterator[str]:
    """Yield where it is, and then everything else a person may want to know."""
    if "iteration" in values:
        where = f"iteration {values['iteration']} of at most {values['max_iter']}"
        if values["restarts"] > 1:
            where = f"start {values['restart']} of {values['restarts']}, {where}"
        yield where
        yield f"F {words.number(values['free_energy'])}"
    else:
        yield f"{values['rows']:,} of {words.count(values['of_rows'], 'row')}"
    if values["rows_per_second"]:
        yield words.rate(values["rows_per_second"])
    for key, least in (("seconds_left_at_most", "at most "), ("seconds_left", "")):
        if values.get(key) is not None:
            yield f"{least}{words.clock(values[key])} left"


@contextmanager
def following(voice: Voice) -> Iterator[Follower]:
    """Give whoever works something to tell how far it is."""
    if voice.quiet:
        yield Follower()
    elif not voice.is_watched:
        yield Lines(voice)
    else:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        with Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[known]}", markup=False),
            console=voice.err,
            transient=True,
            expand=True,
        ) as bar:
            yield Bar(voice, bar)
