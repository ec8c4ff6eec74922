"""What should a user know of the columns before clusters are looked for in them?"""

import math
from collections.abc import Iterator
from typing import Any

from cprime.advice.wording import either, name_columns, plain

# Rows that are looked at, from the first to the last.
LOOKED_AT = 4096
# In fewer, a column may rise by one each time and mean something.
FEWEST_COUNTED = 20
# Numbers of rows reach no farther, rows that were dropped included.
MOST_MISSING = 1.5
# `of_data.EQUALIZE`, in terms of options.
EQUALIZE = "add --standardize, or use covariances that adapt (--model mixture)."


def column_warnings(data: Any, round_clusters: bool) -> Iterator[str]:
    """Yield what a user may not know of the columns of their data.

    Parameters
    ----------
    data : Data
    round_clusters : bool
        Whether the model measures all columns with one yardstick.
    """
    import numpy as np

    from cprime.advice import of_data

    if not math.isfinite(data.largest):
        # Whoever computes with it says where that is.
        return
    numbers = np.linspace(0, data.n_rows - 1, min(LOOKED_AT, data.n_rows)).astype(int)
    names = name_columns(data.names, data.n_features, "")
    shown = [plain(name) for name in names]
    with np.errstate(over="ignore", invalid="ignore"):
        rows = data.take(numbers).astype(np.float64)
        spreads = np.std(rows, axis=0).tolist()
        if data.shift is not None:
            rows = rows * data.scale + data.shift
        # Some rows may be missing, as those are that somebody has dropped.
        steps, rises = np.diff(numbers)[:, None], np.diff(rows, axis=0)
        by_one = (rises > 0.999 * steps).all(axis=0)
        counts = by_one & (rises.sum(axis=0) < MOST_MISSING * data.n_rows)
        # They are not quite integers if columns were scaled.
        integer = np.isclose(rows, np.rint(rows), rtol=1e-9, atol=1e-6).all(axis=0)
        rising = integer & (rises > 0.0).all(axis=0)
    if data.n_rows < FEWEST_COUNTED:
        counts = rising = np.zeros_like(counts)
    counting, ids = (
        [name for name, it in zip(shown, of) if it] for of in (counts, rising & ~counts)
    )
    for found in (
        of_data.row_numbers(counting, _leave_out(counting)),
        of_data.identifiers(ids, _leave_out(ids)),
        of_data.unequal_scales(shown, spreads, round_clusters, EQUALIZE),
    ):
        if found is not None:
            yield f"{found.headline} {found.text}"


def _leave_out(names: list[str]) -> str:
    return f"Leave {either(len(names), 'it', 'them')} out: --drop '{','.join(names)}'."
