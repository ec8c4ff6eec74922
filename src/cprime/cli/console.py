"""How does a command speak: to a terminal, to a pipe, or to a program?"""

import json
import math
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.measure import Measurement
from rich.text import Text

from cprime.cli.errors import printable
from cprime.cli.option_names import use_option_names

# Wider than any table.
UNBOUNDED = 1000


class Voice:
    """Messages of a command, each to the stream where it belongs.

    Results go to standard output: text for users, or one JSON object with `--json`.
    Progress and warnings go to standard error: words, or one JSON object a line.
    Errors are one plain line there in any case, and the exit code.

    Parameters
    ----------
    json, quiet : bool
        As the user asked. Quiet leaves warnings, errors, and what `--json` asks for.
    """

    def __init__(self, json: bool = False, quiet: bool = False):
        self.json = json
        self.quiet = quiet
        # Lines are broken for a terminal alone, never in a file.
        self.out, self.err = (
            Console(
                stderr=stderr,
                highlight=False,
                soft_wrap=not Console(stderr=stderr).is_terminal,
            )
            for stderr in (False, True)
        )
        if self.err.is_terminal:
            # It shows Ctrl-C as two signs, which must not begin a new line.
            self.err.width = max(self.err.width - 3, 10)
        self.warnings: list[str] = []

    @property
    def is_watched(self) -> bool:
        """Whether standard error is a terminal that a user watches."""
        return self.err.is_terminal and not (self.json or self.quiet)

    def say(self, message: RenderableType, whole: bool = False) -> None:
        """Show a user on standard output; a whole line is one to be copied."""
        if not (self.json or self.quiet):
            self.out.print(message, soft_wrap=True if whole else None)

    def event(self, kind: str, **values: Any) -> None:
        """Tell a program on standard error, as a line of JSON."""
        print(as_json({"event": kind, **values}), file=sys.stderr, flush=True)

    def warn(self, message: str) -> None:
        """Tell whoever is there, once, about something that is not an error."""
        line = printable(message)
        if line in self.warnings:
            return
        self.warnings.append(line)
        if self.json:
            self.event("warning", message=line)
        else:
            self.err.print(Text.assemble(("warning: ", "yellow"), line))

    def result(self, values: dict[str, Any]) -> None:
        """Give a program the outcome: one JSON object on standard output."""
        if self.json:
            print(as_json({**values, "warnings": self.warnings}))

    @contextmanager
    def show_warnings(self) -> Iterator[None]:
        """Say what the library warns about in a line, without where it was."""

        def show(message: Any, *about: Any, **more: Any) -> None:
            self.warn(use_option_names(str(message)))

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            for impolite in (DeprecationWarning, PendingDeprecationWarning):
                warnings.simplefilter("ignore", impolite)
            warnings.showwarning = show
            yield


def fits(console: Console, table: RenderableType) -> bool:
    """Return whether a console is wide enough to show all of a table."""
    unbounded = console.options.update(width=UNBOUNDED)
    return Measurement.get(console, unbounded, table).maximum <= console.width


def literal(text: str) -> str:
    """Return a text that `Voice.say` shows to the letter, whatever names it holds."""
    return escape(printable(text))


def as_json(values: Any) -> str:
    """Return JSON that every reader takes: numbers that are none become null."""
    return json.dumps(_json_value(values), allow_nan=False)


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _json_value(of) for name, of in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(of) for of in value]
    if hasattr(value, "tolist"):
        return _json_value(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return (
        value
        if isinstance(value, (int, float, bool, str, None.__class__))
        else str(value)
    )
