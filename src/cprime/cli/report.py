"""`cprime report`: one page about a model and the rows it was fitted to."""

from pathlib import Path
from typing import Annotated

from cprime.cli import models, outputs
from cprime.cli.console import Voice
from cprime.cli.data_options import (
    DataFile,
    Header,
    MissingValues,
    ModelColumns,
    ModelFile,
)
from cprime.cli.fit_job import provenance
from cprime.cli.interrupts import stop_on_interrupt
from cprime.cli.model_spec import Missing
from cprime.cli.options import (
    OUTPUT,
    Json,
    Memory,
    Quiet,
    Scratch,
    Threads,
    option,
    use_threads,
)
from cprime.cli.places import check_places
from cprime.cli.progress import follow_progress
from cprime.cli.source import Source
from cprime.cli.summary import describe_file

EPILOG = """[bold]Examples[/]

  cprime report flows.cprime flows.parquet -o flows.html
  cprime fit flows.parquet -k 200 --report flows.html"""


def report(
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path,
        option(
            "-o",
            "--output",
            panel=OUTPUT,
            metavar="FILE",
            help="An HTML file, overwritten if it exists.",
        ),
    ] = Path("report.html"),
    columns: ModelColumns = None,
    header: Header = None,
    missing: MissingValues = Missing.error,
    json: Json = False,
    quiet: Quiet = False,
    memory: Memory = None,
    scratch: Scratch = None,
    threads: Threads = None,
) -> None:
    """Write a report on a model and its rows: one self-contained HTML page.

    It opens with a verdict in plain words; then warnings, convergence, a table of all
    clusters, maps, outliers, and how to reproduce it.
    """
    outputs.check_name(output, "-o", outputs.PAGES)
    check_places([output], [model, data])
    voice = Voice(json, quiet)
    use_threads(threads)
    with voice.show_warnings(), stop_on_interrupt(), follow_progress(voice) as follow:
        from cprime.report import write

        follow.stage(f"reading {data.name}")
        loaded = models.load(model, beside_data=True)
        loaded.refuse_without_density("to report on")
        source = Source(data, columns, header, memory, scratch, missing=missing)
        rows = loaded.rows(source)
        follow.stage(f"writing {output.name}")
        write(output, loaded.estimator, rows, about=provenance(loaded.about))
    voice.say(f"Report: {describe_file(output)}. Open it in a browser.")
    voice.result({"files": {"report": str(output)}})
