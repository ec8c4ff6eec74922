"""cprime on the command line."""

import argparse
import io
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import cprime
from cprime.experiments import EXPERIMENTS
from cprime.experiments.exhibits import Verdict, score

INTERRUPTED = 130
COLOURS = {True: "green", False: "red", None: "dim"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status."""
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a tick shows something in its place.
        sys.stdout.reconfigure(errors="replace")
    try:
        return int(options.command(options))
    except KeyboardInterrupt:
        print("\nInterrupted. Run the same again to go on.", file=sys.stderr)
        return INTERRUPTED
    except (OSError, ValueError, ImportError, RuntimeError) as error:
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
        "was published. An interrupted run goes on where it stopped. The protein data "
        "are looked for in the folder that CPRIME_DATA names and in the user's cache, "
        "and downloaded otherwise.",
    )
    reproduce.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        type=_name,
        default=["all"],
        help=f"all (the default; half an hour or more), or some of: "
        f"{', '.join(EXPERIMENTS)}",
    )
    reproduce.add_argument(
        "--quick", action="store_true", help="a minute or two, to see it work"
    )
    reproduce.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where results, pictures, tables and the page go (default: reproduction, "
        "or reproduction-quick)",
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
    from cprime.experiments.reproduction import alone_in, version

    quick = options.quick
    out = options.out or Path("reproduction-quick" if quick else "reproduction")
    asked = list(EXPERIMENTS) if "all" in options.names else options.names
    modules = _modules(EXPERIMENTS)
    with alone_in(out):
        records = Records(out / "results.jsonl", version())
        _run_missing([s for n in asked for s in modules[n].settings(quick)], records)
        # The page also keeps what earlier runs have completed.
        shown = [
            name
            for name, of in modules.items()
            if name in asked or _is_complete(of, records, quick)
        ]
        used = {s for name in shown for s in modules[name].settings(quick)}
        exhibits = {name: modules[name].show(records, quick) for name in shown}
        page = publish(
            exhibits,
            out,
            quick=quick,
            date=max(map(records.date, used), default=date.today().isoformat()),
            seconds=sum(map(records.seconds, used)),
        )
    _print(verdicts({name: exhibits[name] for name in asked}))
    print(f"Page: {page}")
    return 0


def _is_complete(module: Any, records: Any, quick: bool) -> bool:
    # Without any results there is no need to find out what would be needed.
    return len(records) > 0 and all(s in records for s in module.settings(quick))


def _run_missing(settings: Sequence[Any], records: Any) -> None:
    from cprime.experiments.reproduction import missing, run, seconds

    open_settings = missing(settings, records)
    if not open_settings:
        return
    with _progress() as progress:
        task = progress.add_task("Running", total=sum(map(seconds, open_settings)))
        for done in run(open_settings, records):
            progress.advance(task, seconds(done))


def _modules(files: Mapping[str, str]) -> dict[str, Any]:
    try:
        import_module("rich")
        return {n: import_module(f"cprime.experiments.{f}") for n, f in files.items()}
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{error.name} is missing: pip install 'cprime[reproduce]'."
        ) from error


def _progress() -> Any:
    """Return a bar that knows how much time is left."""
    from rich.console import Console
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
        console=Console(stderr=True),
        speed_estimate_period=600.0,
    )


def _print(verdicts: Sequence[Verdict]) -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from cprime.experiments.ensemble import RULE

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", width=1)
    shares = {"claim": 4, "published": 2, "measured": 3, "spread": 3}
    for column, share in shares.items():
        table.add_column(column, ratio=share, overflow="fold")
    for verdict in verdicts:
        mark = f"[{COLOURS[verdict.holds]}]{verdict.mark}[/]"
        cells = (verdict.claim, verdict.published, verdict.measured, verdict.spread)
        table.add_row(mark, *map(escape, cells))
    console = Console(highlight=False)
    console.print(table)
    console.print(score(verdicts), RULE, "")
    for verdict in verdicts:
        if verdict.holds is False:
            console.print(f"[red]✗[/] {escape(verdict.claim)}. {escape(verdict.why)}")
