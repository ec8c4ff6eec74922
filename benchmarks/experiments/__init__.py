"""The questions, one file each.

Every experiment has a `QUESTION`, the `COLUMNS` of its table, and `measure(settings)`,
which returns a dictionary for JSON with `rows`, `notes` and `skipped`. Some have
`plot(result, folder)`, which returns the names of the pictures it made.
"""

NAMES = (
    "default",
    "scan",
    "early",
    "fit",
    "sweep",
    "restarts",
    "em",
    "mixtures",
    "memory",
    "growth",
    "neighbours",
    "threads",
)
