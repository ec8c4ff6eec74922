"""The `cprime` command: clusters for people who have a file and a question."""

from collections.abc import Sequence

from cprime.cli.app import app

__all__ = ["app", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    given = None if arguments is None else list(arguments)
    return int(app(args=given, prog_name="cprime", standalone_mode=False) or 0)
