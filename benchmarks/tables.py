"""Lines of results as Markdown tables."""

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.comparison import differs, is_ours

Row = dict[str, Any]
Column = tuple[str, Callable[[Row], str]]


def table(rows: Sequence[Row], columns: Sequence[Column]) -> str:
    """Return a Markdown table, numbers to the right; nothing if there are no rows."""
    if not rows:
        return ""
    cells = [[text(row) for _, text in columns] for row in rows]
    shown = [at for at in range(len(columns)) if any(line[at] for line in cells)]
    heads = [head for head, _ in columns]
    rules = ["---" if head in TEXT else "--:" for head in heads]
    return "".join(
        "| " + " | ".join(line[at] for at in shown) + " |\n"
        for line in (heads, rules, *cells)
    )


def number(name: str, form: str, unit: float = 1.0) -> Callable[[Row], str]:
    """Return a function that writes one number of a line, or nothing."""

    def text(row: Row) -> str:
        value = row.get(name)
        return "" if value is None else format(value * unit, form)

    return text


def _contestant(row: Row) -> str:
    return f"**{row['contestant']}**" if is_ours(row) else row["contestant"]


def _seconds(row: Row) -> str:
    # A difference of two times may come out negative: the noise is larger than it is.
    return format(row["seconds"], ".3g") if row["seconds"] > 0 else "below the noise"


def _spread(row: Row) -> str:
    fastest, slowest = min(row["times"]), max(row["times"])
    if len(row["times"]) == 1:
        return "one run"
    if row["seconds"] <= 0:
        return ""
    return f"{100 * (slowest - fastest) / row['seconds']:.0f}%"


def _above_best(row: Row) -> str:
    if "above_best" not in row:
        return ""
    share = f"{row['above_best']:.0e}"
    return f"**{share}, differs**" if differs(row) else share


TEXT = {"job", "input", "contestant", "axis", "work"}

CASE: Column = ("input", lambda row: row["case"])
CONTESTANT: Column = ("contestant", _contestant)
SECONDS: Column = ("seconds", _seconds)
SPREAD: Column = ("spread", _spread)
SPEED: Column = ("speed, best peer = 1", number("speed", ".2f"))
ITERATIONS: Column = ("iterations", number("iterations", ".0f"))
EVALUATIONS: Column = ("distances, millions", number("evaluations", ",.4g", 1e-6))
GFLOPS: Column = ("GFLOP/s", number("gflops", ".1f"))
PEAK: Column = ("of peak", number("of_peak", ".0%"))
OBJECTIVE: Column = ("objective", number("objective", ".7g"))
ABOVE_BEST: Column = ("above lowest", _above_best)

# What every comparison of times begins with, and of k-means ends with.
TIMES = (CASE, CONTESTANT, SECONDS, SPREAD, SPEED)
REACHED = (OBJECTIVE, ABOVE_BEST)
