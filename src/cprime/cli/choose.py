"""`cprime choose`: how many clusters are there in a file, and of which shape?"""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from cprime.advice import Finding, of_choice
from cprime.cli import outputs
from cprime.cli.checkpoint_options import (
    CheckpointFolder,
    Every,
    Resume,
    refuse_resume_from_nowhere,
)
from cprime.cli.choice import (
    ALL,
    Chosen,
    Criterion,
    Search,
    choose_clusters,
    describe_tried,
    parse_shapes,
    scaling_matters,
)
from cprime.cli.choice_table import legend_of, lines_of, table_of
from cprime.cli.column_warnings import column_warnings
from cprime.cli.console import Voice, literal
from cprime.cli.data_options import (
    Columns,
    DataFile,
    Drop,
    Header,
    MissingValues,
    Standardize,
    Weights,
)
from cprime.cli.errors import COMMAND_FOLLOWS, StoppedError
from cprime.cli.fit_job import (
    Files,
    FitResult,
    refuse_place_of_checkpoints,
    save,
)
from cprime.cli.fit_summary import fit_command, resume_command
from cprime.cli.interrupts import stop_on_interrupt
from cprime.cli.model_spec import Missing
from cprime.cli.option_names import use_option_names
from cprime.cli.options import (
    MODEL,
    OUTPUT,
    SEARCH,
    Json,
    Memory,
    Quiet,
    Scratch,
    Seed,
    Threads,
    option,
    use_threads,
)
from cprime.cli.places import check_places
from cprime.cli.progress import follow_progress
from cprime.cli.source import Source
from cprime.cli.summary import (
    describe_file,
    describe_model,
    describe_shape,
    finding_line,
    show,
)

EPILOG = """[bold]How to read it[/]

  BIC       how many Gaussians describe the density?
  BIC on F  how many groups can rows be assigned to? BIC
            of hard labels (the default)
  ICL       the same, stricter on ambiguous rows

A group counts if the density has a valley between it and the others. One
cluster is a possible answer.

[bold]Examples[/]

  cprime choose flows.parquet --standardize
  cprime choose flows.parquet --shapes diag,full
  cprime choose flows.parquet -o flows.cprime

Ctrl-C stops and shows the best so far; with --checkpoint it can be resumed."""


def choose(
    context: typer.Context,
    data: DataFile,
    columns: Columns = None,
    drop: Drop = None,
    header: Header = None,
    missing: MissingValues = Missing.error,
    weights: Weights = None,
    standardize: Standardize = False,
    max_clusters: Annotated[
        int | None,
        option(
            "--max-clusters",
            panel=SEARCH,
            metavar="N",
            least=1,
            help="The largest number of clusters to try.",
            default="as long as more help",
        ),
    ] = None,
    shapes: Annotated[
        str,
        option(
            "--shapes",
            panel=MODEL,
            metavar="NAMES",
            help="Shapes to try, separated by commas: isotropic (k-means), spherical, "
            "diag, tied, full.",
        ),
    ] = ALL,
    criterion: Annotated[
        Criterion,
        option(
            "--criterion",
            panel=MODEL,
            metavar="NAME",
            help="How fits are compared: bic_free_energy, icl, bic or held_out.",
        ),
    ] = Criterion.bic_free_energy,
    seed: Seed = 0,
    output: Annotated[
        Path | None,
        option(
            "-o",
            "--output",
            panel=OUTPUT,
            metavar="FILE",
            help="Save the best model to this file, overwriting it.",
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
) -> None:
    """Find out how many clusters there are, and of which shape.

    Fits and compares plausible numbers and shapes; ends with the answer, how sure it
    is, and the command that fits it.
    """
    search = Search(max_clusters, parse_shapes(shapes), criterion, seed)
    refuse_resume_from_nowhere(resume, checkpoint)
    outputs.check_name(output, "-o")
    check_places([output], [data])
    files = None
    if output is not None:
        files = Files(output, None, None, checkpoint)
        refuse_place_of_checkpoints(files)
    if missing == Missing.marginalize:
        raise typer.BadParameter(
            "marginalize needs a number of clusters; use drop", param_hint="--missing"
        )
    source = Source(data, columns, header, memory, scratch, drop, missing, weights)
    voice, typed = Voice(json, quiet), shlex.join(["cprime", *context.obj])
    use_threads(threads)
    with voice.show_warnings(), stop_on_interrupt():
        with follow_progress(voice) as follow:
            follow.stage(f"reading {data.name}")
            rows, weight_of = source.training(standardize)
            for line in column_warnings(rows, round_clusters=False):
                voice.warn(line)
            chosen = choose_clusters(
                search, rows, follow, checkpoint, every, resume, weight_of
            )
            if files is not None:
                best = chosen.auto.best_estimator_
                of = chosen.start_message, chosen.seconds, chosen.complete, chosen.spec
                save(FitResult(best, rows, *of), files, typed, follow)
            scaling, hint = None, None
            try:
                if chosen.complete:
                    scaling = scaling_matters(search, rows, chosen, follow, weight_of)
            except KeyboardInterrupt:
                hint = (
                    "The answer is complete; the check with standardized columns is "
                    "not."
                )
        _show(voice, chosen, rows, source, output, scaling)
        if not chosen.complete:
            hint = _hint(output, checkpoint, typed)
        if hint is not None:
            raise StoppedError(hint)


def _show(
    voice: Voice,
    chosen: Chosen,
    rows: Any,
    source: Source,
    output: Path | None,
    scaling: Any,
) -> None:
    auto, lines = chosen.auto, lines_of(chosen.auto)
    command = _next_command(chosen, source, output, rows)
    voice.result(
        {
            "data": rows.origin,
            "rows": rows.n_rows,
            "columns": rows.n_features,
            "standardized": rows.scale is not None,
            "clusters": auto.n_clusters_,
            "shape": auto.shape_,
            "c_prime": auto.c_prime_,
            "plausible": auto.plausible_,
            "agreement": auto.agreement_,
            "verdict": use_option_names(auto.verdict_),
            "scaling": scaling and f"{scaling.headline} {scaling.text}",
            "candidates": auto.results_,
            "seed": auto.random_state,
            "seconds": chosen.seconds,
            "complete": chosen.complete,
            "files": {} if output is None else {"model": str(output)},
            "next": command,
        }
    )
    voice.say(f"[bold]{literal(describe_shape(rows))}[/]")
    voice.say(table_of(auto, lines, voice.out))
    voice.say(f"[dim]{legend_of(lines)}[/]\n")
    headline, _, text = auto.verdict_.partition(". ")
    at_the_limit = auto.n_clusters_ == auto.max_clusters
    sure = chosen.complete and len(auto.plausible_) == 1 and not at_the_limit
    level = "good" if sure else "fair"
    voice.say(finding_line(Finding(level, f"{headline}.", text)))
    if scaling is not None:
        voice.say(finding_line(scaling))
    found = {
        "model": type(auto.best_estimator_).__name__,
        "clusters": auto.n_clusters_,
        "c_prime": auto.c_prime_,
        "covariance": getattr(auto.best_estimator_, "covariance_type", None),
    }
    facts = [
        ("model", describe_model(found)),
        ("criteria", of_choice.by_number(auto.agreement_)),
        ("tried", describe_tried(chosen)),
    ]
    if output is not None:
        facts.append(("wrote", describe_file(output)))
    show(voice, "", facts)
    if chosen.complete and command:
        voice.say(f"\nnext: [bold]{literal(command)}[/]", whole=True)


def _next_command(
    chosen: Chosen, source: Source, output: Path | None, rows: Any
) -> str | None:
    """Return a command worth trying now."""
    if output is not None:
        page = str(output.with_suffix(".html"))
        typed = ["report", str(output), *source.typed_for_model, "-o", page]
        return shlex.join(["cprime", *typed])
    if chosen.auto.n_clusters_ == 1:
        return None
    return fit_command(chosen.spec, source, rows)


def _hint(output: Path | None, checkpoint: Path | None, typed: str) -> str:
    """Return the message for a user who has stopped a search."""
    kept = "The best so far is shown."
    if output is not None:
        kept = f"The best so far is in {output}, marked interrupted."
    if checkpoint is None:
        return f"{kept} With --checkpoint DIR a search can be resumed where it stopped."
    return f"{kept} {COMMAND_FOLLOWS}{resume_command(checkpoint, typed)}"
