"""`cprime fit`: which clusters are there in a file?"""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from cprime.cli import outputs
from cprime.cli.checkpoint_options import (
    CheckpointFolder,
    Every,
    Resume,
    refuse_resume_from_nowhere,
)
from cprime.cli.clusters import on_cluster, refuse_on_cluster
from cprime.cli.column_warnings import column_warnings
from cprime.cli.console import Voice
from cprime.cli.data_options import (
    Columns,
    DataFile,
    Drop,
    Header,
    MissingValues,
    Standardize,
    Weights,
)
from cprime.cli.errors import StoppedError
from cprime.cli.fit_auto import choose_and_save, is_free, with_chosen_number
from cprime.cli.fit_job import (
    Files,
    fit_and_save,
    model_file,
    refuse_place_of_checkpoints,
    refuse_to_overwrite,
    refuse_too_few_rows,
)
from cprime.cli.fit_summary import resume_hint, show_fit
from cprime.cli.interrupts import stop_on_interrupt
from cprime.cli.model_spec import (
    Missing,
    Model,
    ModelSpec,
    parse_c_prime,
    parse_clusters,
    refuse_standardized_gaps,
)
from cprime.cli.options import (
    OUTPUT,
    Cluster,
    ClustersOrAuto,
    CovarianceType,
    CPrime,
    InitName,
    Json,
    MaxIter,
    Memory,
    ModelName,
    Quiet,
    Restarts,
    Scratch,
    Seed,
    Threads,
    Tol,
    option,
    use_threads,
)
from cprime.cli.places import check_places
from cprime.cli.progress import follow_progress
from cprime.cli.source import Source

EPILOG = """[bold]Examples[/]

  cprime fit flows.parquet -k 200
  cprime fit flows.parquet -k auto --columns 'f*'
  cprime fit flows.parquet -k 200 --standardize
  cprime fit flows.parquet -k 200 --c-prime 3
  cprime fit flows.parquet -k 200 --report flows.html
  cprime fit big.npy -k 1000 --checkpoint kept
  cprime fit big.npy -k 1000 --checkpoint kept --resume
  cprime fit folder/ -k 1000 --cluster tcp://host:8786

Ctrl-C stops, keeps the best so far (the model is marked interrupted) and says how to
continue; pressed again, it ends at once. SIGTERM, which Slurm or systemd send before
they kill a process, stops it in the same way."""


def fit(
    context: typer.Context,
    data: DataFile,
    k: ClustersOrAuto,
    columns: Columns = None,
    drop: Drop = None,
    header: Header = None,
    missing: MissingValues = Missing.error,
    weights: Weights = None,
    standardize: Standardize = False,
    model: ModelName = Model.kmeans,
    c_prime: CPrime = None,
    covariance: CovarianceType = None,
    init: InitName = None,
    restarts: Restarts = None,
    max_iter: MaxIter = None,
    tol: Tol = None,
    seed: Seed = 0,
    output: Annotated[
        Path | None,
        option(
            "-o",
            "--output",
            panel=OUTPUT,
            metavar="FILE",
            help="Model file to write, overwritten if it exists.",
            default="DATA's name with .cprime, unless that exists",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        option(
            "--report",
            panel=OUTPUT,
            metavar="FILE",
            help="Also write a report, one HTML page.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        option(
            "--labels",
            panel=OUTPUT,
            metavar="FILE",
            help="Also write what cprime predict gives for every row: .parquet, .csv, "
            ".npy.",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    checkpoint: CheckpointFolder = None,
    every: Every = 60.0,
    resume: Resume = False,
    memory: Memory = None,
    scratch: Scratch = None,
    threads: Threads = None,
    cluster: Cluster = None,
) -> None:
    """Find clusters in a file and save them as a model.

    It reports the log-likelihood L, the free energy F, a lower bound on L, and the gap
    between them: what is lost by assigning every row to only C' clusters.
    """
    kept = parse_c_prime(c_prime, model)
    spec = ModelSpec(
        model=model,
        k=parse_clusters(k),
        c_prime=kept,
        covariance=covariance,
        init=init,
        restarts=restarts,
        max_iter=max_iter,
        tol=tol,
        seed=seed,
        missing=missing,
    )
    refuse_standardized_gaps(missing, standardize)
    if labels is not None and missing == Missing.drop:
        raise typer.BadParameter(
            "rows that --missing drop leaves out have no label; label them later, with "
            "cprime predict",
            param_hint="--labels",
        )
    refuse_on_cluster(
        cluster,
        {
            "-k": "auto" if spec.k is None else None,
            "--missing": None if missing == Missing.error else missing,
            "--report": report,
            "--header": header is not None,
            "--memory": memory,
            "--scratch": scratch,
            "--threads": threads,
        },
    )
    if cluster is not None and standardize and weights is not None:
        raise typer.BadParameter(
            "columns cannot be scaled by weighted rows on a cluster; leave out "
            "--weights or --standardize",
            param_hint="--cluster",
        )
    free = is_free(context, spec)
    refuse_resume_from_nowhere(resume, checkpoint)
    outputs.check_name(output, "-o")
    outputs.check_name(report, "--report", outputs.PAGES)
    outputs.check_name(labels, "--labels", outputs.TABLES)
    if report is not None and model == Model.fuzzy:
        raise typer.BadParameter(
            "fuzzy k-means has no density to report on", param_hint="--report"
        )
    source = Source(
        data, columns, header, memory, scratch, drop, missing, weights, cluster
    )
    files = Files(model_file(output, data), report, labels, checkpoint)
    check_places([files.model, report, labels], [data])
    refuse_place_of_checkpoints(files)
    voice, typed = Voice(json, quiet), shlex.join(["cprime", *context.obj])
    use_threads(threads)
    with voice.show_warnings(), stop_on_interrupt(), on_cluster(cluster):
        with follow_progress(voice) as follow:
            follow.stage(f"reading {data.name}")
            rows, weight_of = source.training(standardize)
            refuse_too_few_rows(rows, spec.k)
            if output is None:
                refuse_to_overwrite(files.model)
            for line in column_warnings(rows, spec.are_round and not free):
                voice.warn(line)
            chosen = None
            if free:
                chosen, fitted = choose_and_save(
                    spec, c_prime, rows, files, typed, follow, every, resume, weight_of
                )
            else:
                if spec.k is None:
                    chosen, spec = with_chosen_number(
                        spec, rows, follow, checkpoint, every, resume, weight_of
                    )
                fitted = fit_and_save(
                    spec, rows, files, typed, follow, every, resume, weight_of
                )
        show_fit(voice, fitted, files, typed, source, chosen)
        if not fitted.complete:
            raise StoppedError(resume_hint(files, typed))
