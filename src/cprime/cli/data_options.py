"""Which data and models does a command read, and how is that said?"""

from pathlib import Path
from typing import Annotated

import typer

from cprime.cli.model_spec import Missing
from cprime.cli.options import option

DATA = "Data"
KINDS = ".npy, .parquet, .arrow, .csv, .tsv (also .gz), or a folder of Parquet files"

DataFile = Annotated[
    Path, typer.Argument(metavar="DATA", help=f"Rows of numbers: {KINDS}.")
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file written by cprime fit.")
]
Columns = Annotated[
    str | None,
    option(
        "--columns",
        panel=DATA,
        metavar="NAMES",
        help="Columns to use, by name or pattern: 'f*,age'.",
        default="all",
    ),
]
Drop = Annotated[
    str | None,
    option(
        "--drop",
        panel=DATA,
        metavar="NAMES",
        help="Columns to leave out, by name or pattern: 'id,name*'.",
        default="none",
    ),
]
MissingValues = Annotated[
    Missing,
    option(
        "--missing",
        panel=DATA,
        metavar="NAME",
        help="What to do with missing values: error, drop (leave those rows out), or "
        "marginalize (use the values that are there, for --model mixture with "
        "--covariance diag, spherical or isotropic).",
    ),
]
Weights = Annotated[
    str | None,
    option(
        "--weights",
        panel=DATA,
        metavar="COLUMN",
        help="Column with the weight of each row (2 counts it twice). It is not used "
        "as a feature.",
        default="all rows count once",
    ),
]
Header = Annotated[
    bool | None,
    option(
        "--header/--no-header",
        panel=DATA,
        help="Whether the first line of a text file holds column names.",
        default="detected",
    ),
]
ModelColumns = Annotated[
    str | None,
    option(
        "--columns",
        panel=DATA,
        metavar="NAMES",
        help="Columns to use, in the order the model expects.",
        default="those the model was fitted to",
    ),
]
Standardize = Annotated[
    bool,
    option(
        "--standardize",
        panel=DATA,
        help="Scale every column to mean 0 and standard deviation 1 first, so that "
        "all count equally. The model remembers it.",
    ),
]
