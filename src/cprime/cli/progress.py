"""How far is it? A bar for a terminal, lines for a pipe, JSON for a program."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

from cprime.advice import wording
from cprime.cli.console import Voice

# A pipe gets a line so often at most, a program too.
SECONDS_BETWEEN_LINES = 5.0
# Speed is that of so many iterations, or blocks, before now.
RECENT = 20
# Columns that the spinner and the shortest bar take, with a space after each.
LEAST_BAR = 12


class Follower:
    """Follows a piece of work and says how far it is; this one says nothing.

    A fit notifies it of every iteration: it is what `fit(progress=...)` wants.
    """

    def stage(self, doing: str) -> None:
        """Say what begins now; nobody knows how long it takes."""

    def __call__(self, iteration: Any) -> None:
        """Take note of an iteration of a fit, a `cprime.Progress`."""

    def trial(self, trial: Any) -> None:
        """Take note of a fit that a search has tried, a `cprime.Trial`."""

    def rows(self, done: int, total: int) -> None:
        """Take note of how many of all rows are done."""

    def read(self, n_rows: int) -> None:
        """Take note of rows that were read from disk, for whatever goes on."""


class Pace:
    """How fast it went lately: what was done, and in how many seconds."""

    def __init__(self) -> None:
        self._steps: deque[tuple[float, float]] = deque(maxlen=RECENT)

    def step(self, done: float, seconds: float) -> None:
        self._steps.append((done, seconds))

    @property
    def per_second(self) -> float:
        """Return units of work per second; 0 if nothing was done yet."""
        done = sum(done for done, _ in self._steps)
        return done / max(sum(seconds for _, seconds in self._steps), 1e-9)


class Reporter(Follower):
    """Knows what to say of an iteration, or of rows, and leaves how to others."""

    def __init__(self, voice: Voice):
        self._voice = voice
        self._pace = Pace()
        self._done, self._since = 0, time.monotonic()
        self._read = 0

    def __call__(self, iteration: Any) -> None:
        if iteration.iteration > 1:
            # The first has no sweep of its own: that of the start serves it.
            self._pace.step(1.0, iteration.seconds)
        per_second = self._pace.per_second
        at_most = iteration.n_init * iteration.max_iter
        done = iteration.restart * iteration.max_iter + iteration.iteration
        values = {
            "restart": iteration.restart + 1,
            "restarts": iteration.n_init,
            "iteration": iteration.iteration,
            "max_iter": iteration.max_iter,
            "free_energy": iteration.free_energy,
        }
        if per_second:
            values["rows_per_second"] = per_second * iteration.n_rows
            values["seconds_left_at_most"] = (at_most - done) / per_second
        self._read = 0
        self.show(values, done / at_most)
        ended = iteration.converged or iteration.iteration == iteration.max_iter
        if ended and iteration.restart + 1 == iteration.n_init:
            # All rows once more, and all clusters.
            self.stage("evaluating the fit")

    def trial(self, trial: Any) -> None:
        self._read = 0
        names = ("n_tried", "n_clusters", "shape", "best_n_clusters", "best_shape")
        self.show({name: getattr(trial, name) for name in names}, None)

    def rows(self, done: int, total: int) -> None:
        now = time.monotonic()
        self._pace.step(done - self._done, now - self._since)
        self._done, self._since = done, now
        per_second = self._pace.per_second
        self.show(
            {
                "rows": done,
                "of_rows": total,
                "rows_per_second": per_second,
                "seconds_left": (total - done) / max(per_second, 1e-9),
            },
            done / max(total, 1),
        )

    def stage(self, doing: str) -> None:
        self._pace = Pace()
        self._done, self._since = 0, time.monotonic()
        self._read = 0
        self.begin(doing)

    def read(self, n_rows: int) -> None:
        self._read += n_rows
        self.count(self._read)

    def begin(self, doing: str) -> None:
        """Show what begins."""
        raise NotImplementedError

    def show(self, values: dict[str, Any], share: float | None) -> None:
        """Show how far it is; `share` of it is done, at least, if that is known."""
        raise NotImplementedError

    def count(self, n_rows: int) -> None:
        """Show how many rows were read since anything else was shown."""


class Lines(Reporter):
    """A plain line now and then, or one of JSON."""

    def __init__(self, voice: Voice):
        super().__init__(voice)
        self._last = time.monotonic()
        self._waiting: Timer | None = None

    def begin(self, doing: str) -> None:
        self.end()
        if self._voice.json:
            self._voice.event("stage", doing=doing)
            return
        # Nobody needs to hear of what is over in a moment.
        self._waiting = Timer(SECONDS_BETWEEN_LINES, self._line, [f"{doing} ..."])
        self._waiting.daemon = True
        self._waiting.start()

    def show(self, values: dict[str, Any], share: float | None) -> None:
        self.end()
        if time.monotonic() - self._last < SECONDS_BETWEEN_LINES:
            return
        if self._voice.json:
            self._last = time.monotonic()
            self._voice.event("progress", **values)
        else:
            self._line(", ".join(_describe(values)))

    def end(self) -> None:
        """Drop the line that was still to come."""
        if self._waiting is not None:
            self._waiting.cancel()

    def _line(self, text: str) -> None:
        self._last = time.monotonic()
        self._voice.err.print(text, markup=False)


class Bar(Reporter):
    """A bar on a terminal, and beside it what is known."""

    def __init__(self, voice: Voice, bar: Any):
        super().__init__(voice)
        self._bar = bar
        self._task = bar.add_task("", total=None, known="")

    def begin(self, doing: str) -> None:
        self._bar.reset(self._task, total=None, description=doing, known="")

    def show(self, values: dict[str, Any], share: float | None) -> None:
        where, known = self._fitting(*_describe(values))
        self._bar.update(
            self._task,
            total=None if share is None else 1.0,
            completed=share or 0.0,
            description=where,
            known=known,
        )

    def _fitting(self, where: str, *known: str) -> tuple[str, str]:
        """Return where it is, and as much else as there is room for."""
        room = self._voice.err.width - LEAST_BAR
        if len(where) > room:
            # The iteration itself comes last, after which start it is of.
            where = where.rpartition(", ")[2]
        shown = ""
        for text in known:
            more = f"{shown}  {text}" if shown else text
            if len(where) + 1 + len(more) > room:
                break
            shown = more
        return where, shown

    def count(self, n_rows: int) -> None:
        if self._bar.tasks[0].total is None:
            self._bar.update(self._task, known=f"{wording.count(n_rows, 'row')} read")


def _describe(values: dict[str, Any]) -> Iterator[str]:
    """Yield where it is, and then everything else a user may want to know."""
    if "n_tried" in values:
        yield f"{wording.count(values['n_clusters'], 'cluster')}, {values['shape']}"
        yield f"best so far: {values['best_n_clusters']:,} {values['best_shape']}"
        yield f"{values['n_tried']:,} tried"
    elif "iteration" in values:
        where = f"iteration {values['iteration']} of at most {values['max_iter']}"
        if values["restarts"] > 1:
            where = f"start {values['restart']} of {values['restarts']}, {where}"
        yield where
        yield f"F {wording.comparable(values['free_energy'])}"
    else:
        yield f"{values['rows']:,} of {wording.count(values['of_rows'], 'row')}"
    if "rows_per_second" in values:
        yield wording.rate(values["rows_per_second"])
    for key, least in (("seconds_left_at_most", "at most "), ("seconds_left", "")):
        if key in values:
            yield f"{least}{wording.clock(values[key])} left"


@contextmanager
def follow_progress(voice: Voice) -> Iterator[Follower]:
    """Give the work something to notify of how far it is."""
    if voice.quiet:
        yield Follower()
    elif not voice.is_watched:
        lines = Lines(voice)
        try:
            yield lines
        finally:
            lines.end()
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
