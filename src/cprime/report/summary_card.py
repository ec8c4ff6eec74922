"""What data is it, and how could somebody else get the same fit?"""

import math
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from cprime.advice.wording import count, number, plain, share, size
from cprime.report.clusters import Fitted
from cprime.report.inputs import Scaling
from cprime.report.summary import Summary
from cprime.typing import Array
from cprime.version import __version__

# Of very many columns, the first are shown.
MOST_COLUMNS = 200
BARS = 16
PACKAGES = ("numpy", "scipy", "scikit-learn")
# Longer commands and values are cut in the middle.
LONGEST = 400


@dataclass(frozen=True)
class ColumnLine:
    """What is shown of one column, all of it text.

    Attributes
    ----------
    histogram : str
        The outline of its histogram, as a path in a box of 64 by 16.
    """

    name: str
    lowest: str
    mean: str
    spread: str
    highest: str
    missing: str
    histogram: str


@dataclass(frozen=True)
class SummaryCard:
    """The data: facts, and a line for every column.

    Attributes
    ----------
    facts : list of (str, str)
    columns : list of ColumnLine
    left_out : int
        Further columns that have no line.
    any_missing : bool
    """

    facts: list[tuple[str, str]]
    columns: list[ColumnLine]
    left_out: int
    any_missing: bool


def card_of(
    summary: Summary, data: Any, names: Sequence[str], scaling: Scaling
) -> SummaryCard:
    """Return what is shown of the data.

    Parameters
    ----------
    summary : Summary
    data : Data
    names : sequence of str
    scaling : Scaling
    """
    columns = summary.columns
    shown = [
        ColumnLine(
            name=plain(names[d]),
            lowest=number(columns.lowest[d]),
            mean=number(columns.means[d]),
            spread=number(columns.spreads[d]),
            highest=number(columns.highest[d]),
            missing=share(columns.n_missing[d], summary.n_rows),
            histogram=_outline(summary.sample[:, d]),
        )
        for d in range(min(len(names), MOST_COLUMNS))
    ]
    facts = [("Rows", count(summary.n_rows)), ("Columns", count(len(names)))]
    if data.origin:
        facts.insert(0, ("Name", plain(data.origin, 80)))
    facts.append(("Size", f"{size(data.nbytes)} as {data.dtype}"))
    facts.append(("Scaling", _scaling(scaling)))
    n_missing = int(columns.n_missing.sum())
    if n_missing:
        of_all = share(n_missing, summary.n_rows * len(names))
        facts.append(("Missing", f"{count(n_missing, 'value')}, {of_all}"))
    return SummaryCard(facts, shown, len(names) - len(shown), n_missing > 0)


def parameters_of(fitted: Fitted) -> list[tuple[str, str]]:
    """Return every parameter of the estimator, by name."""
    return [
        (name, plain(_describe(value), LONGEST))
        for name, value in fitted.estimator.get_params(deep=False).items()
    ]


def reproduction_of(
    fitted: Fitted, data: Any, about: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return what it takes to make the same fit again.

    Parameters
    ----------
    fitted : Fitted
    data : Data, optional
    about : mapping
        What whoever made the fit wants to be known; "command" is shown elsewhere.
    """
    facts = [("Seed", _seed(fitted.estimator))]
    seeding = getattr(fitted.estimator, "seeding_", None)
    if seeding is not None:
        facts.append(("Seeding", plain(seeding, LONGEST)))
    known = {name: value for name, value in about.items() if name != "command"}
    if data is not None:
        known.setdefault("fingerprint", data.fingerprint())
    facts += [
        (plain(name).capitalize(), plain(value, LONGEST))
        for name, value in known.items()
    ]
    facts.append(("Versions", _versions()))
    return facts


def call_of(fitted: Fitted, scaling: Scaling) -> str:
    """Return the fit as a line of Python, with what is not the default."""
    estimator = fitted.choice or fitted.estimator
    name = type(estimator).__name__
    defaults = type(estimator)().get_params(deep=False)
    changed = [
        f"{parameter}={plain(_describe(value), 60)}"
        for parameter, value in estimator.get_params(deep=False).items()
        if not _same(value, defaults[parameter])
    ]
    rows = "X" if scaling.is_none else "(X - X.mean(axis=0)) / X.std(axis=0)"
    return f"{name}({', '.join(changed)}).fit({rows})"


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    return isinstance(value, int | float | str) and value == default


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<array of shape {value.shape}>"
    if callable(value):
        return f"<function {getattr(value, '__name__', 'of the user')}>"
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return "<random generator>"
    return repr(value)


def _seed(estimator: Any) -> str:
    seed = estimator.random_state
    if isinstance(seed, int | np.integer):
        return str(seed)
    return (
        "none (random_state is not a number): another fit may start, and end, elsewhere"
    )


def _versions() -> str:
    found = [f"cprime {__version__}", f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join([*found, f"{sys.platform} {platform.machine()}"])


def _scaling(scaling: Scaling) -> str:
    if scaling.is_none:
        return "as they are"
    return "columns were standardised for the fit; values here are in their own units"


def _outline(values: Array) -> str:
    """Return the outline of a histogram, its ends those of the sample."""
    values = values[np.isfinite(values)]
    if not len(values) or values.min() == values.max():
        return ""
    heights, _ = np.histogram(values, BARS)
    # Roots, so that what is rare can be seen.
    tops = np.sqrt(heights / heights.max())
    width = 64.0 / BARS
    steps = "".join(
        f"V{16.0 - 15.0 * top:.1f}h{width:g}".replace(".0h", "h") for top in tops
    )
    return f"M0 16{steps}V16z" if math.isfinite(tops.sum()) else ""
