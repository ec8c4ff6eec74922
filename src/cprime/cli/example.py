"""`cprime example`: is there a file to try the other commands with?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from cprime.advice import wording
from cprime.cli import outputs
from cprime.cli.options import OUTPUT, Json, Quiet, option
from cprime.cli.places import check_places

# What scikit-learn brings along, by the name of the file it is written to.
LOADERS = {
    "breast_cancer": "load_breast_cancer",
    "digits": "load_digits",
    "iris": "load_iris",
    "wine": "load_wine",
}

EPILOG = """[bold]Examples[/]

  cprime example wine.csv
  cprime example digits.parquet"""


def example(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="File to write, named after the data set: iris, wine, digits or "
            "breast_cancer, ending in .csv, .parquet or .npy.",
        ),
    ],
    overwrite: Annotated[
        bool,
        option("--overwrite", panel=OUTPUT, help="Replace the file if it exists."),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a well-known data set to a file, to try the other commands with.

    The name of the file says which. Only the features are written, not the classes.
    """
    voice = outputs.voice_beside(file, json, quiet)
    outputs.check_name(file, "FILE", outputs.TABLES)
    if file.stem not in LOADERS:
        raise typer.BadParameter(
            f"{file.stem!r} is not an example; choose one of {', '.join(LOADERS)}, "
            f"for example wine{file.suffix}",
            param_hint="FILE",
        )
    if file.exists() and not overwrite:
        raise ValueError(f"{file} exists: add --overwrite, or use another folder.")
    check_places([file], [])
    table = _table(file.stem)
    with outputs.table_file(file, table.num_rows) as write:
        write(table)
    if not voice.quiet:
        from cprime.cli.summary import describe_file

        size = f"{wording.count(table.num_rows, 'row')} x {table.num_columns} columns"
        voice.say(f"{size}: {describe_file(file)}")
    voice.result({"rows": table.num_rows, "files": {"rows": str(file)}})


def _table(name: str) -> Any:
    """Return a data set as an Arrow table."""
    import pyarrow as pa
    from sklearn import datasets

    found = getattr(datasets, LOADERS[name])()
    return pa.table(dict(zip(map(str, found.feature_names), found.data.T)))
