"""Which options do commands have in common, and what do they mean?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from cprime.cli.model_spec import Covariance, Init, Model

MODEL, SEARCH = "Model", "Search"
OUTPUT, MACHINE, LONG = "Output", "Machine", "Long fits"
# Of any number: numpy takes seeds up to here.
LARGEST = 2**32 - 1


def option(
    *names: str,
    panel: str,
    help: str,
    default: str = "",
    least: float | None = None,
    **more: Any,
) -> Any:
    """Return an option as help shows it.

    Parameters
    ----------
    *names : str
    panel : str
        Under which heading.
    help : str
    default : str, optional
        What it is if it is not given, in words.
    least : float, optional
        The smallest number it may be.
    **more
        As of `typer.Option`.
    """
    if default:
        help, more["show_default"] = f"{help} [dim]\\[default: {default}][/]", False
    if least is not None:
        more["callback"] = _at_least(least)
    return typer.Option(*names, rich_help_panel=panel, help=help, **more)


def _at_least(least: float) -> Any:
    """Return what refuses smaller numbers, and those no seed can be."""

    def check(value: Any) -> Any:
        if value is not None and not least <= value <= LARGEST:
            bound = f"less than {least:g}" if value < least else "too large"
            raise typer.BadParameter(
                f"{value} is {bound if value == value else 'not a number'}"
            )
        return value

    return check


TableFile = Annotated[
    Path,
    option(
        "-o",
        "--output",
        panel=OUTPUT,
        metavar="FILE",
        help="A .parquet, .csv or .npy file, overwritten if it exists; - writes CSV "
        "to standard output.",
    ),
]
Clusters = Annotated[
    int,
    option(
        "-k",
        "--clusters",
        panel=MODEL,
        metavar="N",
        least=1,
        help="Number of clusters, C.",
    ),
]
ClustersOrAuto = Annotated[
    str,
    option(
        "-k",
        "--clusters",
        panel=MODEL,
        metavar="N",
        help="Number of clusters, C; auto chooses it, as cprime choose does.",
    ),
]
CPrime = Annotated[
    str | None,
    option(
        "--c-prime",
        panel=MODEL,
        metavar="C'",
        help="Clusters kept per row: 1 is k-means, all is EM, 2 to 5 is usually close "
        "to EM.",
        default="1 for kmeans, else all",
    ),
]
ModelName = Annotated[
    Model,
    option(
        "--model",
        panel=MODEL,
        metavar="NAME",
        help="kmeans: spherical clusters of equal size. soft: the same, with soft "
        "labels. fuzzy: fuzzy c-means. mixture: Gaussians, each with its own weight "
        "and shape.",
    ),
]
CovarianceType = Annotated[
    Covariance | None,
    option(
        "--covariance",
        panel=MODEL,
        metavar="SHAPE",
        help="Shape of the clusters of --model mixture: full, tied, diag, spherical or "
        "isotropic.",
        default="full",
    ),
]
InitName = Annotated[
    Init | None,
    option(
        "--init",
        panel=SEARCH,
        metavar="NAME",
        help="Initialisation: k-means++, k-means||, greedy-k-means++, "
        "sampled-k-means++, plain-k-means++, afk-mc2, random; for mixtures kmeans, "
        "k-means++, k-means||, greedy-k-means++, random_from_data, random.",
        default="k-means++; kmeans for mixtures",
    ),
]
Restarts = Annotated[
    int | None,
    option(
        "--restarts",
        panel=SEARCH,
        metavar="N",
        least=1,
        help="Number of starts; the best is kept.",
        default="1; 10 for random",
    ),
]
MaxIter = Annotated[
    int | None,
    option(
        "--max-iter",
        panel=SEARCH,
        metavar="N",
        least=1,
        help="Maximum number of iterations per start.",
        default="300; 100 for mixtures",
    ),
]
Tol = Annotated[
    float | None,
    option(
        "--tol",
        panel=SEARCH,
        metavar="X",
        least=0.0,
        help="Tolerance: stop when an iteration changes less than this.",
        default="0.0001; 0.001 for mixtures",
    ),
]
Seed = Annotated[
    int,
    option(
        "--seed",
        panel=SEARCH,
        metavar="N",
        least=0,
        help="Random seed: the same seed gives the same result.",
    ),
]
Memory = Annotated[
    str | None,
    option(
        "--memory",
        panel=MACHINE,
        metavar="SIZE",
        help="Memory limit for data, such as 200MB or 1.5GiB; larger data are read "
        "from disk in blocks.",
        default="a quarter of memory",
    ),
]
Scratch = Annotated[
    Path | None,
    option(
        "--scratch",
        panel=MACHINE,
        metavar="DIR",
        help="Folder for temporary files.",
        default="the system's",
    ),
]
Cluster = Annotated[
    str | None,
    option(
        "--cluster",
        panel=MACHINE,
        metavar="ADDRESS",
        help="Let the workers of a Dask cluster do it, as tcp://host:8786. They read "
        "DATA, Parquet or Arrow files, at the same place.",
        default="this machine",
    ),
]
Threads = Annotated[
    int | None,
    option(
        "--threads",
        panel=MACHINE,
        metavar="N",
        least=1,
        help="Number of threads. Does not change results.",
        default="all",
    ),
]
Json = Annotated[
    bool,
    option(
        "--json",
        panel=OUTPUT,
        help="For programs: one JSON object on standard output. Progress and warnings "
        "are lines of JSON on standard error.",
    ),
]
Quiet = Annotated[
    bool,
    option("--quiet", "-q", panel=OUTPUT, help="Print only warnings and errors."),
]


def use_threads(n_threads: int | None) -> None:
    """Let all that computes use so many threads."""
    if n_threads is None:
        return
    from threadpoolctl import threadpool_limits

    # Importing them makes them known to threadpoolctl.
    import cprime.kernels.native  # noqa: F401

    threadpool_limits(n_threads)
