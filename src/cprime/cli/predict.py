"""`cprime predict`: which cluster does every row of a file belong to?"""

import time
from pathlib import Path
from typing import Annotated

import typer

from cprime.advice import wording
from cprime.cli import models, outputs
from cprime.cli.clusters import on_cluster, refuse_on_cluster
from cprime.cli.console import Voice
from cprime.cli.data_options import DataFile, Header, ModelColumns, ModelFile
from cprime.cli.interrupts import stop_on_interrupt
from cprime.cli.labelling import LabelCounts, write_labels
from cprime.cli.options import (
    OUTPUT,
    Cluster,
    Json,
    Memory,
    Quiet,
    Scratch,
    TableFile,
    Threads,
    option,
    use_threads,
)
from cprime.cli.places import check_places
from cprime.cli.progress import follow_progress
from cprime.cli.source import Source

EPILOG = """[bold]What is written for every row[/]

  label          most likely cluster, counted from 0
  probability    of that cluster, for this row
  runner_up      second most likely cluster
  log_density    log density of the row: low is unusual
  outlier_score  share of the cluster's rows that should
                 lie closer to its centre: 0 is typical,
                 above 0.999 is an outlier

[bold]Examples[/]

  cprime predict flows.cprime new.parquet -o out.parquet
  cprime predict flows.cprime new.csv -o out.csv --keep id
  cprime predict flows.cprime new.parquet -o - | head"""


def predict(
    model: ModelFile,
    data: DataFile,
    output: TableFile,
    keep: Annotated[
        str | None,
        option(
            "--keep",
            panel=OUTPUT,
            metavar="NAMES",
            help="Columns of DATA to write as well, by name or pattern: 'id,name*'.",
        ),
    ] = None,
    keep_all: Annotated[
        bool,
        option("--keep-all", panel=OUTPUT, help="Write all columns of DATA too."),
    ] = False,
    columns: ModelColumns = None,
    header: Header = None,
    memory: Memory = None,
    scratch: Scratch = None,
    threads: Threads = None,
    cluster: Cluster = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Label every row of a file with a fitted model.

    Columns are found by the names the model was fitted to, in any order.
    """
    outputs.check_table(output)
    check_places([output], [model, data])
    if keep is not None and keep_all:
        raise typer.BadParameter("--keep and --keep-all cannot be combined.")
    refuse_on_cluster(
        cluster,
        {
            "--header": header is not None,
            "--memory": memory,
            "--scratch": scratch,
            "--threads": threads,
        },
    )
    source = Source(data, columns, header, memory, scratch, cluster=cluster)
    voice = outputs.voice_beside(output, json, quiet)
    use_threads(threads)
    with (
        voice.show_warnings(),
        stop_on_interrupt(),
        on_cluster(cluster),
        follow_progress(voice) as follow,
    ):
        follow.stage(f"reading {data.name}")
        loaded, kept = models.load(model, beside_data=True), None
        started = time.perf_counter()
        if keep is not None or keep_all:
            kept = source.companions("*" if keep is None else keep)
        rows = loaded.rows(source)
        counts = write_labels(output, loaded.estimator, rows, follow, kept)
    seconds = time.perf_counter() - started
    if not voice.quiet:
        _show(voice, output, counts, seconds)
    voice.result(
        {
            "rows": counts.rows,
            "ambiguous": counts.ambiguous,
            "outliers": counts.outliers,
            "seconds": seconds,
            "files": {"labels": str(output)},
        }
    )


def _show(voice: Voice, output: Path, counts: LabelCounts, seconds: float) -> None:
    from cprime.cli.summary import describe_file

    voice.say(
        f"{wording.count(counts.rows, 'row')} labelled in {wording.seconds(seconds)}: "
        f"{describe_file(output)}"
    )
    ambiguous = wording.share(counts.ambiguous, counts.rows)
    voice.say(f"  {ambiguous} are ambiguous (probability below 0.75)")
    if counts.outliers is not None:
        odd = wording.share(counts.outliers, counts.rows)
        voice.say(f"  {odd} are outliers (score above 0.999; expected 0.1 %)")
