"""What may be said to several commands, and what it means."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cprime.cli.wanted import Covariance, Init, Model

DATA, MODEL, SEARCH = "Data", "Model", "Search"
OUTPUT, MACHINE, LONG = "Output", "Machine", "Long fits"
KINDS = ".npy, .parquet, .arrow, .csv, .tsv (also .gz), or a folder of Parquet files"


def _option(*names: str, panel: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, help=help, **more)


DataFile = Annotated[
    Path, typer.Argument(metavar="DATA", help=f"Rows of numbers: {KINDS}.")
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model that cprime fit has written.")
]
Columns = Annotated[
    str | None,
    _option(
        "--columns",
        panel=DATA,
        metavar="NAMES",
        help="Columns to use, by name or pattern: 'f*,age'.",
        show_default="all",
    ),
]
ModelColumns = Annotated[
    str | None,
    _option(
        "--columns",
        panel=DATA,
        metavar="NAMES",
        help="Columns to use, in the order the model wants them.",
        show_default="those of the names it was fitted to",
    ),
]
TableFile = Annotated[
    Path,
    _option(
        "-o",
        "--output",
        panel=OUTPUT,
        metavar="FILE",
        help="A .parquet, .csv or .npy file, which is overwritten; - is CSV on "
        "standard output.",
    ),
]
Standardize = Annotated[
    bool,
    _option(
        "--standardize",
        panel=DATA,
        help="Give every column mean 0 and spread 1 first, so that all count alike "
        "whatever their units. The model remembers it.",
    ),
]
Clusters = Annotated[
    int,
    _option("-k", "--clusters", panel=MODEL, min=1, help="Number of clusters, C."),
]
CPrime = Annotated[
    str | None,
    _option(
        "--c-prime",
        panel=MODEL,
        metavar="C'",
        help="Clusters every row keeps: 1 is k-means, all is EM, 2 to 5 is nearly EM "
        "and nearly as fast as k-means.",
        show_default="1 for kmeans, else all",
    ),
]
ModelName = Annotated[
    Model,
    _option(
        "--model",
        panel=MODEL,
        help="kmeans: round clusters of one size. soft: the same, rows shared. fuzzy: "
        "fuzzy c-means. mixture: Gaussians with weights and shapes of their own.",
    ),
]
CovarianceType = Annotated[
    Covariance | None,
    _option(
        "--covariance",
        panel=MODEL,
        help="Shape of the clusters of --model mixture.",
        show_default="full",
    ),
]
InitName = Annotated[
    Init | None,
    _option(
        "--init",
        panel=SEARCH,
        help="Where to start. kmeans and random_from_data are for mixtures.",
        show_default="k-means++; kmeans for mixtures",
    ),
]
Restarts = Annotated[
    int | None,
    _option(
        "--restarts",
        panel=SEARCH,
        min=1,
        help="Starts to try; the best is kept.",
        show_default="1; 10 for random",
    ),
]
MaxIter = Annotated[
    int | None,
    _option(
        "--max-iter",
        panel=SEARCH,
        min=1,
        help="Iterations of one start, at most.",
        show_default="300; 100 for mixtures",
    ),
]
Tol = Annotated[
    float | None,
    _option(
        "--tol",
        panel=SEARCH,
        min=0.0,
        help="Stop when an iteration changes less than this.",
        show_default="0.0001; 0.001 for mixtures",
    ),
]
Seed = Annotated[
    int,
    _option(
        "--seed",
        panel=SEARCH,
        min=0,
        max=2**32 - 1,
        help="Random numbers start here: the same seed gives the same result.",
    ),
]
Memory = Annotated[
    str | None,
    _option(
        "--memory",
        panel=MACHINE,
        metavar="SIZE",
        help="What rows may take of memory, such as 200MB or 1.5GiB; more of them is "
        "read from disk.",
        show_default="a quarter of it",
    ),
]
Scratch = Annotated[
    Path | None,
    _option(
        "--scratch",
        panel=MACHINE,
        metavar="DIR",
        help="Folder for what does not fit in memory.",
        show_default="the system's",
    ),
]
Threads = Annotated[
    int | None,
    _option(
        "--threads",
        panel=MACHINE,
        min=1,
        help="Processors to use. Changes no result.",
        show_default="all",
    ),
]
Json = Annotated[
    bool,
    _option(
        "--json",
        panel=OUTPUT,
        help="For programs: one JSON object on standard output. Progress and warnings "
        "are lines of JSON on standard error.",
    ),
]
Quiet = Annotated[
    bool,
    _option("--quiet", "-q", panel=OUTPUT, help="Say nothing but warnings and errors."),
]


def use_threads(n_threads: int | None) -> None:
    """Let all that computes use so many threads."""
    if n_threads is None:
        return
    from threadpoolctl import threadpool_limits

    # Importing them makes them known to threadpoolctl.
    import cprime.kernels.native  # noqa: F401

    threadpool_limits(n_threads)
