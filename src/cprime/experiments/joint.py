"""The cells of Table S1 together: under which way of running are they likely?

Cells of one set vary together, so that all of them say more than each does. Everything
is rounded as the paper rounds it before it is compared.
"""

from itertools import permutations

import numpy as np
from scipy.stats import f as fisher_f
from sklearn.covariance import ledoit_wolf

from cprime.experiments import birch, published
from cprime.experiments.alternatives import OTHER_RUNS, results, ways
from cprime.experiments.ensemble import TOO_FEW_SETS, TYPICAL, Ensemble, Place
from cprime.experiments.exhibits import Table, Verdict
from cprime.experiments.published import K_MEANS, K_MEANS_C, LAZY, RANDOM
from cprime.experiments.records import Records
from cprime.experiments.table_s1_cells import DIGITS, Cell, cells
from cprime.typing import Array

ALGORITHMS = (K_MEANS, K_MEANS_C, LAZY)
TOGETHER = "its eight cells together"
WHOLE = "all cells of three algorithms together"


def verdicts(records: Records, kind: str, sets: Ensemble) -> list[Verdict]:
    """Return verdicts on the cells of each line, and on all of them."""
    claims = [f"Tab. S1, {kind}, {name}: {TOGETHER}" for name in ALGORITHMS]
    claims.append(f"Tab. S1, {kind}: {WHOLE}")
    if not sets.can_judge_lines:
        return [Verdict(claim, "", "", "", None, TOO_FEW_SETS) for claim in claims]
    *of_lines, of_table = claims
    return [
        *(
            _verdict_on_line(
                claim, printed(kind, name), lines(records, kind, sets, name)
            )
            for claim, name in zip(of_lines, ALGORITHMS)
        ),
        _verdict_on_table(of_table, kind, _tables(records, kind, sets)),
    ]


def table(records: Records, kind: str, sets: Ensemble) -> Table:
    """Return how much less likely the printed cells are under other ways of running."""
    rows = []
    for name in ALGORITHMS:
        rows += _rows(name, printed(kind, name), lines(records, kind, sets, name))
    all_printed = np.concatenate([printed(kind, name) for name in ALGORITHMS])
    rows += _rows("all three", all_printed, _tables(records, kind, sets))
    header = (
        "line of the table",
        "if run as",
        "log-likelihood less that of the right way",
        "sets drawn here on which it is less likely",
    )
    title = f"BIRCH, {kind}: the printed cells together, by what might have been run"
    return Table(f"joint-{kind}", title, header, rows)


def printed(kind: str, name: str) -> Array:
    """Return the cells of a line, on the random set less those of the truth."""
    of_line = cells(kind, name)
    truth = published.TRUTH[kind]
    return np.array(
        [of.value - (truth[of.measure] if kind == RANDOM else 0.0) for of in of_line]
    )


def lines(records: Records, kind: str, sets: Ensemble, name: str) -> dict[str, Array]:
    """Return the same of the sets drawn here, (sets, 8), by the way of running."""
    truths = birch.truths(kind, sets.n_sets)
    found = {}
    for way, values in ways(name).items():
        runs = results(records, sets, kind, values)
        found[way] = np.array(
            [
                [_rounded(of, on_set, truth) for of in cells(kind, name)]
                for on_set, truth in zip(runs, truths)
            ]
        )
    return found


def _rounded(of: Cell, on_set: dict[str, object], truth: dict[str, float]) -> float:
    value = round(of.of_runs(on_set), DIGITS[of.measure])
    return value - truth[of.measure] if of.kind == RANDOM else value


def _tables(records: Records, kind: str, sets: Ensemble) -> dict[str, Array]:
    """Return all three lines, (sets, 24), by what is run for each."""
    of_lines = {name: lines(records, kind, sets, name) for name in ALGORITHMS}
    found = {}
    for order in permutations(ALGORITHMS):
        way = ", ".join(order)
        found[way] = np.hstack(
            [of_lines[line][run] for line, run in zip(ALGORITHMS, order)]
        )
    for other in OTHER_RUNS:
        found[other] = np.hstack([of_lines[name][other] for name in ALGORITHMS])
    return found


def _verdict_on_line(claim: str, x: Array, found: dict[str, Array]) -> Verdict:
    p_values = {way: p_value(x, values) for way, values in found.items()}
    right, *wrong = p_values
    typical = {way: p >= 1.0 - TYPICAL for way, p in p_values.items()}
    n_sets, n_cells = found[right].shape
    return Verdict(
        claim,
        "as printed",
        f"p = {p_values[right]:.3f}",
        f"Hotelling's T^2, {n_cells} cells, {n_sets} sets",
        typical[right],
        "" if typical[right] else "Not typical of the sets drawn here.",
        {way: typical[way] for way in wrong},
    )


def p_value(x: Array, values: Array) -> float:
    """Return how often one more set would be as far off, by Hotelling's T^2."""
    n, p = values.shape
    difference = x - values.mean(axis=0)
    covariance = np.cov(values, rowvar=False)
    squared = float(difference @ np.linalg.pinv(covariance) @ difference)
    statistic = squared * n / (n + 1.0) * (n - p) / (p * (n - 1.0))
    return float(fisher_f.sf(statistic, p, n - p))


def _verdict_on_table(claim: str, kind: str, found: dict[str, Array]) -> Verdict:
    x = np.concatenate([printed(kind, name) for name in ALGORITHMS])
    places = {
        way: Place.of(log_likelihood(x, values), left_out(values))
        for way, values in found.items()
    }
    right, *wrong = places
    # Nobody minds cells that fit too well.
    typical = {way: of.is_typical or of.deviations > 0 for way, of in places.items()}
    return Verdict(
        claim,
        "as printed",
        f"log-likelihood {log_likelihood(x, found[right]):.1f}",
        f"{places[right].center:.1f} ± {places[right].spread:.1f} of one set, by the "
        "others",
        typical[right],
        "" if typical[right] else "Not typical of the sets drawn here.",
        {way: typical[way] for way in wrong},
    )


def log_likelihood(x: Array, values: Array) -> float:
    """Return log p(x) of a normal distribution fitted to values.

    Its covariance is shrunk (Ledoit & Wolf 2004), in units of the values' spread: there
    may be more cells than sets.
    """
    scale = values.std(axis=0, ddof=1)
    scale = np.maximum(scale, 1e-3 * np.abs(values).max(axis=0))
    center = values.mean(axis=0)
    covariance, _ = ledoit_wolf((values - center) / scale, assume_centered=True)
    z = (x - center) / scale
    _, log_determinant = np.linalg.slogdet(2.0 * np.pi * covariance)
    distance = float(z @ np.linalg.solve(covariance, z))
    return -0.5 * (distance + float(log_determinant)) - float(np.log(scale).sum())


def left_out(values: Array) -> list[float]:
    """Return the log-likelihood of each set, by all others."""
    return [
        log_likelihood(x, np.delete(values, i, axis=0)) for i, x in enumerate(values)
    ]


def _rows(
    line: str, x: Array, found: dict[str, Array]
) -> list[tuple[str, str, str, str]]:
    right, *wrong = found
    by_right, of_sets = log_likelihood(x, found[right]), left_out(found[right])
    rows = []
    for way in wrong:
        less = sum(
            log_likelihood(own, np.delete(found[way], i, axis=0)) < of_sets[i]
            for i, own in enumerate(found[right])
        )
        difference = log_likelihood(x, found[way]) - by_right
        rows.append((line, way, f"{difference:+.1f}", f"{less} of {len(of_sets)}"))
    return rows
