"""cprime on the command line."""

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import cprime
from cprime.experiments import EXPERIMENTS

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except KeyboardInterrupt:
        print("\nInterrupted. Run the same again to go on.", file=sys.stderr)
        return INTERRUPTED
    except (OSError, ValueError, ImportError) as error:
        print(f"cprime: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cprime", description="One dial from k-means to Gaussian mixtures."
    )
    parser.add_argument("--version", action="version", version=cprime.__version__)
    commands = parser.add_subparsers(required=True, metavar="command")
    reproduce = commands.add_parser(
        "reproduce",
        help="run the paper's experiments beside its published numbers",
        description="Run the paper's experiments and lay what they give beside what "
        "was published. An interrupted run goes on where it stopped.",
    )
    reproduce.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        type=_name,
        default=["all"],
        help=f"all, or some of: {', '.join(EXPERIMENTS)}",
    )
    reproduce.add_argument(
        "--quick", action="store_true", help="a few minutes' worth, to see it work"
    )
    reproduce.add_argument(
        "--out",
        type=Path,
        default=Path("reproduction"),
        metavar="DIR",
        help="where pictures, tables and the page go (default: %(default)s)",
    )
    reproduce.set_defaults(command=_reproduce)
    return parser


def _name(text: str) -> str:
    if text != "all" and text not in EXPERIMENTS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not one of all, {', '.join(EXPERIMENTS)}"
        )
    return text


def _reproduce(options: argparse.Namespace) -> int:
    from cprime.experiments.publication import publish, verdicts_table
    from cprime.experiments.records import Records
    from cprime.experiments.reproduction import missing, run

    names = list(EXPERIMENTS) if "all" in options.names else options.names
    modules = {
        name: import_module(f"cprime.experiments.{EXPERIMENTS[name]}") for name in names
    }
    records = Records(options.out / "results.jsonl")
    settings = [s for of in modules.values() for s in of.settings(options.quick)]
    start = time.perf_counter()
    open_settings = missing(settings, records)
    for _ in _with_progress(run(open_settings, records), len(open_settings)):
        pass
    exhibits = {n: of.show(records, options.quick) for n, of in modules.items()}
    page = publish(exhibits, options.out, time.perf_counter() - start)
    _print_verdicts(verdicts_table(exhibits).rows)
    print(f"Page: {page}")
    return 0


def _with_progress(work: Iterable[Any], total: int) -> Iterable[Any]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("Running"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns) as progress:
        yield from progress.track(work, total=total)


def _print_verdicts(rows: Sequence[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("", "claim", "published", "measured", "spread")
    for row in rows:
        table.add_row(*row[:5])
    Console().print(table)
    held = sum(row[0] == "✓" for row in rows)
    print(f"{held} of {len(rows)} published numbers and claims hold.")
