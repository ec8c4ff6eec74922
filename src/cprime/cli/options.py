"""What may be said to several commands, and what it means."""

from pathlib import Path
from typing import Annotated

import typer

DATA, MODEL, SEARCH = "Data", "Model", "Search"
OUTPUT, MACHINE, LONG = "Output", "Machine", "Long fits"

Json = Annotated[
    bool,
    typer.Option(
        "--json",
        rich_help_panel=OUTPUT,
        help="One JSON object on standard output, for programs; progress and warnings "
        "are lines of JSON on standard error.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        rich_help_panel=OUTPUT,
        help="Say nothing but warnings and errors.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        max=2**32 - 1,
        rich_help_panel=SEARCH,
        help="Where random numbers start: the same seed, the same result.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        rich_help_panel=MACHINE,
        help="How many processors to use. Changes no result.",
        show_default="all",
    ),
]
Scratch = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="DIR",
        rich_help_panel=MACHINE,
        help="Folder for what does not fit in memory.",
        show_default="the system's for temporary files",
    ),
]


def use_threads(n_threads: int | None) -> None:
    """Let all that computes use so many threads."""
    if n_threads is None:
        return
    from threadpoolctl import threadpool_limits

    # Importing them makes them known to threadpoolctl.
    import cprime.kernels.native  # noqa: F401

    threadpool_limits(n_threads)
