"""What does a user see of a search for the number of clusters?"""

from dataclasses import dataclass
from typing import Any

from cprime.advice.of_choice import TITLES
from cprime.cli.console import fits

CRITERIA = ("bic_free_energy", "icl", "bic", "held_out")
# Numbers of clusters on either side of the chosen one that are shown.
NEIGHBOURS = 2
CHOSEN, AS_GOOD, NOT_GROUPS = "<- chosen", "about as good", "not separate"


@dataclass(frozen=True)
class Line:
    """The best fit with one number of clusters.

    Attributes
    ----------
    n_clusters : int
    shape : str
    values : dict
        What each criterion makes of it.
    note : str
    """

    n_clusters: int
    shape: str
    values: dict[str, float]
    note: str


def lines_of(auto: Any) -> list[Line]:
    """Return the best fit of every number of clusters, by the criterion."""
    from cprime.selection.comparable import comparable, last_word

    results = auto.results_
    values = {name: comparable(results, name) for name in CRITERIA}
    criterion, chosen = values[auto.criterion], int(results["chosen"].argmax())
    best = {auto.n_clusters_: chosen}
    for i in last_word(results).tolist():
        C = int(results["n_clusters"][i])
        known = best.setdefault(C, i)
        if known != chosen and criterion[i] < criterion[known]:
            best[C] = i
    # What is better and was not chosen has clusters without a valley between them.
    of_all_rows = results["weight"] == results["weight"].max()
    ahead = (criterion < criterion[chosen]) & of_all_rows
    return [
        Line(
            C,
            str(results["shape"][i]),
            {name: float(of[i]) for name, of in values.items()},
            CHOSEN if i == chosen else _note(ahead[i], C in auto.plausible_),
        )
        for C, i in sorted(best.items())
    ]


def _note(is_ahead: bool, is_plausible: bool) -> str:
    if is_ahead:
        return NOT_GROUPS
    return AS_GOOD if is_plausible else ""


def shown(auto: Any, lines: list[Line]) -> list[Line | None]:
    """Return the lines worth a look; None stands for some that are left out."""
    wanted = {1, *auto.agreement_.values(), *auto.plausible_}
    kept: list[Line | None] = []
    for line in lines:
        near = abs(line.n_clusters - auto.n_clusters_) <= NEIGHBOURS
        if near or line.n_clusters in wanted:
            kept.append(line)
        elif kept and kept[-1] is not None:
            kept.append(None)
    return kept if kept[-1] is not None else kept[:-1]


def table_of(auto: Any, lines: list[Line], console: Any) -> Any:
    """Return a table that fits a console, with one criterion if need be."""
    names = sorted(CRITERIA[:3], key=lambda name: name != auto.criterion)
    if auto.criterion not in names:
        names.insert(0, auto.criterion)
    table = _table(shown(auto, lines), names)
    if fits(console, table):
        return table
    return _table(shown(auto, lines), names[:1])


def _table(lines: list[Line | None], names: list[str]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("clusters", justify="right")
    table.add_column("shape")
    for name in names:
        table.add_column(TITLES[name], justify="right")
    table.add_column("")
    for line in lines:
        if line is None:
            table.add_row("...")
            continue
        is_chosen = line.note == CHOSEN
        table.add_row(
            f"{line.n_clusters:,}",
            line.shape,
            *(_number(line.values[name]) for name in names),
            f"[green]{line.note}[/]" if is_chosen else f"[dim]{line.note}[/]",
            style="bold" if is_chosen else "",
        )
    return table


def _number(value: float) -> str:
    return f"{value:,.1f}" if abs(value) < 1e5 else f"{value:,.0f}"


def legend_of(lines: list[Line]) -> str:
    """Return how to read the table."""
    text = "Lower is better; every line is the best shape with that many clusters."
    if any(line.note == NOT_GROUPS for line in lines):
        text += (
            f' "{NOT_GROUPS}": without a valley between some of its clusters, so they '
            "are not groups of their own."
        )
    return text
