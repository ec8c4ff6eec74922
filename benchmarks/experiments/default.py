"""How long does what users call take? Whole fits, by default parameters."""

from datetime import UTC, datetime
from typing import Any

from benchmarks import tables
from benchmarks.comparison import Row
from benchmarks.jobs import file, fits, mixtures, truncation
from benchmarks.settings import Settings

QUESTION = "how long do whole fits take, by default parameters?"
# Every job has a name, by which it can be run alone.
JOBS = {**fits.JOBS, **truncation.JOBS, **mixtures.JOBS, **file.JOBS}
# Jobs that run only by name: gigabytes are written, read and removed.
BY_NAME = frozenset(file.JOBS)
COLUMNS = (
    ("job", lambda row: row["job"]),
    *tables.TIMES,
    ("scikit-learn = 1", tables.number("beside_sklearn", ".2f")),
    ("C'=1, or a scan, = 1", tables.number("ratio", ".2f")),
    tables.ITERATIONS,
    tables.EVALUATIONS,
    *tables.REACHED,
    ("free energy per row", tables.number("free_energy", ".4f")),
    ("log-likelihood per row", tables.number("log_likelihood", ".4f")),
    ("gap", tables.number("gap", ".4f")),
    ("extra MB", tables.number("extra_bytes", ".0f", 1e-6)),
)
NOTES = [
    f"`fit`: default parameters, `random_state` 0 to {fits.SEEDS - 1}; every library "
    "has its own seeds, so iterations and objectives, means over all, differ. "
    "`restarts`: the same with n_init=100. `single`: medians of "
    f"{fits.SHORT_ROUNDS} fits.",
    "`iterations` and `fixed`: from the same random rows, tol=0, with all that a fit "
    "does at its end.",
    f"`c_prime`: seconds of iterations {truncation.FIRST + 1} to {truncation.LAST} "
    "from one start, the mean; F is that in the end. `gap`: what a fit of "
    f"{truncation.ITERATIONS_BEFORE_GAP} iterations spends on it, beside `predict`.",
    "`mixture`: float64 rows and default parameters, so `reg_covar` differs: "
    "scikit-learn adds 1e-6 to variances.",
    f"`file`: in {file.MEMORY} of memory; loading and seeding count. It runs only by "
    "name.",
]


def measure(settings: Settings) -> dict[str, Any]:
    """Run the jobs that are asked for, or all but those that run only by name."""
    for name in settings.only:
        if name not in JOBS:
            raise SystemExit(
                f"There is no job {name!r}: it is one of {', '.join(JOBS)}."
            )
    rows: list[Row] = []
    skipped: list[str] = []
    for name in settings.only or [name for name in JOBS if name not in BY_NAME]:
        print(f"-- {name}", flush=True)
        measured, missing = JOBS[name](settings)
        rows += [_told(name, row, measured, settings) for row in measured]
        skipped += missing
    return {"rows": rows, "skipped": skipped, "notes": NOTES}


def _told(job: str, row: Row, of_job: list[Row], settings: Settings) -> Row:
    """Return a line with its job, when it was measured, and scikit-learn beside it."""
    told = {"job": job, "date": datetime.now(UTC).date().isoformat()}
    told |= {**row, "threads": settings.threads}
    for peer in of_job:
        if peer["contestant"] == "scikit-learn":
            told["beside_sklearn"] = peer["seconds"] / row["seconds"]
    return told
