"""cprime on the command line."""

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import cprime
from cprime.experiments import EXPERIMENTS
from cprime.experiments.exhibits import Verdict

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
    from cprime.experiments.publication import publish, verdicts
    from cprime.experiments.records import Records
    from cprime.experiments.reproduction import missing, run, seconds

    names = list(EXPERIMENTS) if "all" in options.names else options.names
    modules = _modules(names)
    records = Records(options.out / "results.jsonl")
    settings = [s for of in modules.values() for s in of.settings(options.quick)]
    open_settings = missing(settings, records)
    with _progress() as progress:
        task = progress.add_task("Running", total=sum(map(seconds, open_settings)))
        for done in run(open_settings, records):
            progress.advance(task, seconds(done))
    exhibits = {n: of.show(records, options.quick) for n, of in modules.items()}
    used = set(settings)
    page = publish(
        exhibits,
        options.out,
        quick=options.quick,
        date=max(map(records.date, used), default=date.today().isoformat()),
        seconds=sum(map(records.seconds, used)),
    )
    _print(verdicts(exhibits))
    print(f"Page: {page}")
    return 0


def _modules(names: Sequence[str]) -> dict[str, Any]:
    try:
        import_module("rich")
        return {n: import_module(f"cprime.experiments.{EXPERIMENTS[n]}") for n in names}
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{error.name} is missing: pip install 'cprime[reproduce]'."
        ) from error


def _progress() -> Any:
    """Return a bar that knows how much time is left."""
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("gone,"),
        TimeRemainingColumn(),
        TextColumn("left"),
        speed_estimate_period=600.0,
    )


def _print(verdicts: Sequence[Verdict]) -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", width=1)
    shares = {"claim": 4, "published": 2, "measured": 3, "spread": 3}
    for column, share in shares.items():
        table.add_column(column, ratio=share, overflow="fold")
    for verdict in verdicts:
        mark = "[green]✓[/]" if verdict.holds else "[red]✗[/]"
        cells = (verdict.claim, verdict.published, verdict.measured, verdict.spread)
        table.add_row(mark, *map(escape, cells))
    console = Console(highlight=False)
    console.print(table)
    held = sum(verdict.holds for verdict in verdicts)
    console.print(f"{held} of {len(verdicts)} published numbers and claims hold.")
    for verdict in verdicts:
        if not verdict.holds:
            console.print(f"[red]✗[/] {escape(verdict.claim)}. {escape(verdict.why)}")
