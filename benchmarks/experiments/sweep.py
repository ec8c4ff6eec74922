"""What does a row's next cluster cost, from k-means (C'=1) to EM (C'=C)?"""

from itertools import pairwise
from typing import Any

from benchmarks import contestants, data, machine, tables
from benchmarks.comparison import Row, compare, each_input, row
from benchmarks.data import Input
from benchmarks.harness import interleave
from benchmarks.settings import Settings

QUESTION = "what does one full sweep cost as rows keep more clusters, C'?"
INPUTS = (Input("KDD", 200),)
QUICK = (Input("KDD", 20, 3000),)
C_PRIMES = (1, 2, 3, 5, 10)
COLUMNS = (
    tables.CASE,
    tables.CONTESTANT,
    tables.SECONDS,
    tables.SPREAD,
    ("time, C'=1 is 1", tables.number("ratio", ".2f")),
    tables.GFLOPS,
    tables.PEAK,
    ("free energy per row", tables.number("free_energy", ".6f")),
)
NOTES = [
    "A sweep is search, posteriors and statistics of all rows with nothing known from "
    "before, so nothing can be pruned. GFLOP/s count the 2 N D C of its distances "
    "alone.",
]


def measure(settings: Settings) -> dict[str, Any]:
    """Time sweeps that differ in C' alone."""
    rows, skipped = each_input(QUICK if settings.quick else INPUTS, _compare, settings)
    reached = [row["free_energy"] for row in rows]
    rises = all(before <= after for before, after in pairwise(reached))
    verdict = "F rises with C', as it must." if rises else "**F falls: a defect.**"
    notes = [*NOTES, verdict] if rows else NOTES
    return {"rows": rows, "skipped": skipped, "notes": notes}


def _compare(given: Input, X: data.Array, settings: Settings) -> list[Row]:
    theta = contestants.cprime_mixture(X, data.first_centers(X, given.C))
    kept = (*C_PRIMES, given.C)
    sweeps = {c: contestants.cprime_sweep(X, theta, c) for c in kept}
    peak = machine.Peak()
    timed = interleave({**sweeps, "peak": peak}, settings)
    rows = []
    for c in kept:
        gflops = 2e-9 * X.size * given.C / timed[c].seconds
        stats = timed[c].outcome
        line = row(
            f"cprime, C'={c}",
            timed[c],
            ratio=timed[c].seconds / timed[1].seconds,
            gflops=gflops,
            of_peak=gflops / peak.gflops,
            evaluations=stats.evaluations,
            free_energy=stats.free_energy / stats.weight,
        )
        rows.append(line)
    return compare(given.label(X), rows)
