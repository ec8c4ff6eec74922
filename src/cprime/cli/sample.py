"""`cprime sample`: what do rows look like that a model could have made?"""

from collections.abc import Iterator
from typing import Annotated, Any

from cprime.advice import wording
from cprime.cli import models, outputs
from cprime.cli.data_options import ModelFile
from cprime.cli.options import OUTPUT, SEARCH, Json, Quiet, Seed, TableFile, option
from cprime.cli.places import check_places

# Rows are drawn and written so many at a time.
AT_ONCE = 2**17

EPILOG = """[bold]Examples[/]

  cprime sample flows.cprime -n 1000 -o made.parquet
  cprime sample flows.cprime -n 5 -o -"""


def sample(
    model: ModelFile,
    output: TableFile,
    n_rows: Annotated[
        int,
        option(
            "-n",
            "--rows",
            panel=SEARCH,
            metavar="N",
            least=1,
            help="How many rows to draw.",
        ),
    ] = 1000,
    with_labels: Annotated[
        bool,
        option(
            "--with-labels",
            panel=OUTPUT,
            help="Add a column 'label': the cluster a row was drawn from.",
        ),
    ] = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw new rows from a fitted model, in the units of the data it was fitted to."""
    outputs.check_table(output)
    check_places([output], [model])
    voice = outputs.voice_beside(output, json, quiet)
    with voice.show_warnings():
        loaded = models.load(model)
        loaded.refuse_without_density("to draw from")
        with outputs.table_file(output, n_rows) as write:
            for block in _draw(loaded, n_rows, seed, with_labels):
                write(block)
    if not voice.quiet:
        from cprime.cli.summary import describe_file

        rows = wording.count(n_rows, "row")
        voice.say(f"{rows} drawn with seed {seed}: {describe_file(output)}")
    voice.result({"rows": n_rows, "seed": seed, "files": {"rows": str(output)}})


def _draw(
    loaded: models.Loaded, n_rows: int, seed: int, with_labels: bool
) -> Iterator[Any]:
    """Yield tables of rows."""
    import numpy as np
    import pyarrow as pa

    estimator = loaded.estimator
    estimator.random_state = np.random.RandomState(seed)
    names = wording.name_columns(loaded.names, loaded.n_features, "x")
    for start in range(0, n_rows, AT_ONCE):
        X, labels = estimator.sample(min(AT_ONCE, n_rows - start))
        if loaded.scaler is not None:
            X = loaded.scaler.inverse_transform(X)
        columns = dict(zip(names, X.T))
        if with_labels:
            columns[outputs.free_name("label", names)] = labels.astype(np.int32)
        yield pa.table(columns)
