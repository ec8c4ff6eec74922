"""What went wrong, in one line a user can act on; and what the exit code says."""

import os
import re
import shutil
import sys
import textwrap
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import typer

from cprime.cli.option_names import use_option_names
from cprime.extras import MissingExtraError

DONE = 0
CANNOT = 1
USAGE = 2
INTERRUPTED = 130
TERMINATED = 143

# typer's own class of wrong usage, by a way that holds for all its versions.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

# In a message, what comes after it is to be typed.
COMMAND_FOLLOWS = "To continue: "

# What the library raises on purpose, with a message written for users.
EXPECTED = (OSError, ValueError, ImportError, RuntimeError, MemoryError)

# What the library that reads options says of values, and what it means.
PARSER_WORDS = {
    r"Value error, ": "",
    r"Input should be a valid number, unable to parse.*": "it should be a number",
    r"Input should be a valid integer, unable to parse.*": "it should be an integer",
}


class StoppedError(Exception):
    """The user stopped it; the message says what is left and how to go on."""

    code = INTERRUPTED
    # A terminal shows Ctrl-C where the line would begin.
    opening = "\nInterrupted."


class TerminatedError(StoppedError):
    """The system stopped it, by SIGTERM."""

    code = TERMINATED
    opening = "Terminated."


def printable(text: str) -> str:
    """Return a text without line breaks and anything else that moves a cursor.

    Names of files and columns come from elsewhere: a terminal must not obey them.
    """
    words = " ".join(text.split())
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in words
    )


def line_of(error: BaseException) -> str:
    """Return the message for an error."""
    if isinstance(error, OSError) and error.strerror:
        named = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return printable(use_option_names(f"{named}{error.strerror}"))
    if isinstance(error, MissingExtraError):
        return printable(str(error))
    if isinstance(error, ModuleNotFoundError):
        missing = str(error.name).partition(".")[0]
        return f"{missing} is missing: pip install {missing}."
    if isinstance(error, MemoryError):
        message = str(error) or "there is not enough memory"
        return printable(f"{message}. Use a smaller --memory, or fewer clusters.")
    if isinstance(error, StoppedError):
        return printable(str(error))
    if isinstance(error, EXPECTED):
        return printable(use_option_names(str(error) or type(error).__name__))
    return printable(
        f"{type(error).__name__}: {error}. This should not happen; CPRIME_DEBUG=1 "
        "shows where it did."
    )


def usage_line(error: BaseException) -> str:
    """Return what is wrong with a command as it was typed, and where help is."""
    option = getattr(error, "option_name", None)
    known: Any = getattr(error, "possibilities", None)
    context: Any = getattr(error, "ctx", None)
    message = str(getattr(error, "message", ""))
    command = re.match(r"No such command '(.*?)'", message)
    if option is not None and message.startswith("No such"):
        near = _nearest(option, known or ())
        message = f"There is no option {printable(option)}.{near}"
    elif command and context is not None:
        near = _nearest(command[1], context.command.list_commands(context))
        message = f"There is no command {printable(command[1])}.{near}"
    else:
        message = printable(error.format_message())  # type: ignore[attr-defined]
        for theirs, ours in PARSER_WORDS.items():
            message = re.sub(theirs, ours, message)
        message = message if message[-1:] in ".?!" else f"{message}."
    where = context.command_path if context else "cprime"
    return f"{where}: {message} Try '{where} --help'."


def _nearest(typed: str, known: Sequence[str]) -> str:
    near = get_close_matches(typed, known, n=1)
    return f" Did you mean {near[0]}?" if near else ""


def print_line(line: str) -> None:
    """Write one line to standard error, and where it happened if asked to.

    A terminal breaks it between words, but not in a command that is to be copied.
    """
    if os.environ.get("CPRIME_DEBUG") and sys.exc_info()[0] is not None:
        traceback.print_exc()
    if sys.stderr.isatty():
        words, follows, command = line.partition(COMMAND_FOLLOWS)
        lines = (words + follows.rstrip()).split("\n")
        lines = [_fill(text) for text in lines]
        line = "\n".join([*lines, command] if follows else lines)
    print(line, file=sys.stderr, flush=True)


def _fill(text: str) -> str:
    width = shutil.get_terminal_size().columns
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
