"""The `cprime` command: clusters for people who have a file and a question."""

import sys
from collections.abc import Sequence

from cprime import extras

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    try:
        extras.require("cli", "The cprime command")
    except extras.MissingExtraError as error:
        print(f"cprime: {error}", file=sys.stderr)
        return 1
    from cprime.cli.app import app

    given = None if arguments is None else list(arguments)
    return int(app(args=given, prog_name="cprime", standalone_mode=False) or 0)
