"""How are fits with several C' shown beside each other, in a terminal of any width?"""

from collections.abc import Sequence
from typing import Any

from cprime.advice import wording
from cprime.cli.console import fits

COLUMNS = ("C'", "F", "L", "gap", "iterations", "seconds", "")
# What a narrow terminal can do without, the first one first.
DISPENSABLE = ("iterations", "L", "seconds", "F")


def table_of(found: Sequence[dict[str, Any]], best: int | None, console: Any) -> Any:
    """Return a table that fits a console: columns are left out, digits are not.

    Parameters
    ----------
    found : sequence of dict
        What each fit came to, as `fit_values` has it, and its `seconds`.
    best : int or None
        The C' to use.
    console : Console
    """
    names = list(COLUMNS)
    lines = [_cells(of, best) for of in found]
    table = _table(names, lines)
    for name in DISPENSABLE:
        if fits(console, table):
            break
        names.remove(name)
        table = _table(names, lines)
    return table


def unconverged(found: Sequence[dict[str, Any]]) -> str:
    """Return which fits had not converged, in a sentence; nothing if all had."""
    stopped = [str(of["c_prime"]) for of in found if not of["converged"]]
    if not stopped:
        return ""
    return f"Not converged, stopped by --max-iter (*): C' = {wording.listing(stopped)}."


def _cells(of: dict[str, Any], best: int | None) -> dict[str, str]:
    C_prime = of["c_prime"]
    return {
        "C'": f"{C_prime} (all)" if C_prime == of["clusters"] else str(C_prime),
        "F": wording.comparable(of["free_energy"]),
        "L": wording.comparable(of["log_likelihood"]),
        "gap": wording.gap(of["gap"]),
        "iterations": str(of["iterations"]) + ("" if of["converged"] else "*"),
        "seconds": f"{of['seconds']:.3g}",
        "": "[green]<- use[/]" if C_prime == best else "",
    }


def _table(names: Sequence[str], lines: Sequence[dict[str, str]]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for cells in lines:
        table.add_row(
            *(cells[name] for name in names), style="bold" if cells[""] else ""
        )
    return table
