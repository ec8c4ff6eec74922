"""`cprime reproduce`: does the paper hold?"""

from collections.abc import Mapping, Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from cprime import extras
from cprime.cli.errors import StoppedError
from cprime.cli.options import OUTPUT, SEARCH, option
from cprime.experiments import EXPERIMENTS
from cprime.experiments.exhibits import MEANINGS, Kind, Verdict, score

COLOURS = {
    Kind.PINS_DOWN: "green",
    Kind.CONSISTENT: "blue",
    Kind.CONTRADICTS: "red",
    Kind.NOT_JUDGED: "dim",
}


def _check_names(names: list[str] | None) -> list[str] | None:
    for name in names or []:
        if name != "all" and name not in EXPERIMENTS:
            known = ", ".join(EXPERIMENTS)
            raise typer.BadParameter(
                f"{name!r} is not an experiment; choose from all, {known}"
            )
    return names


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            callback=_check_names,
            help=f"Some of: {', '.join(EXPERIMENTS)}. All of them take half an hour or "
            "more. [dim]\\[default: all][/]",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool,
        option("--quick", panel=SEARCH, help="A quick run of a minute or two."),
    ] = False,
    out: Annotated[
        Path | None,
        option(
            "--out",
            panel=OUTPUT,
            metavar="DIR",
            help="Where results, pictures, tables and the page go.",
            default="reproduction, or reproduction-quick",
        ),
    ] = None,
) -> None:
    """Run the paper's experiments and compare with its published numbers.

    An interrupted run continues where it stopped. The protein data are looked for in
    the folder named by CPRIME_DATA and in the user's cache, else downloaded.
    """
    folder = out or Path("reproduction-quick" if quick else "reproduction")
    asked = list(EXPERIMENTS) if not names or "all" in names else names
    try:
        _reproduce(asked, quick, folder)
    except KeyboardInterrupt:
        raise StoppedError("Run the same command again to continue.") from None


def _reproduce(asked: list[str], quick: bool, out: Path) -> None:
    extras.require("plots", "cprime reproduce")
    from cprime.experiments.publication import publish, verdicts
    from cprime.experiments.records import Records
    from cprime.experiments.reproduction import alone_in, version

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
    return {n: import_module(f"cprime.experiments.{f}") for n, f in files.items()}


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
    table.add_column("", width=11)
    shares = {"claim": 4, "published": 2, "measured": 3, "spread": 3, "rules out": 2}
    for column, share in shares.items():
        table.add_column(column, ratio=share, overflow="fold")
    for verdict in verdicts:
        mark = f"[{COLOURS[verdict.kind]}]{verdict.kind.value}[/]"
        # The page names what is not ruled out.
        power, _, _ = verdict.power.partition(";")
        cells = (verdict.claim, verdict.published, verdict.measured, verdict.spread)
        table.add_row(mark, *map(escape, (*cells, power)))
    console = Console(highlight=False)
    console.print(table)
    console.print(score(verdicts), MEANINGS, RULE, "", sep="\n")
    for verdict in verdicts:
        if verdict.holds is False:
            console.print(
                f"[red]contradicts[/] {escape(verdict.claim)}. {escape(verdict.why)}"
            )
