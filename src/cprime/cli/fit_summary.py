"""What does a user see when a fit has ended, and what may be done next?"""

import shlex
from pathlib import Path
from typing import Any

from cprime.advice import wording
from cprime.cli.choice import Chosen
from cprime.cli.console import Voice, literal
from cprime.cli.errors import COMMAND_FOLLOWS
from cprime.cli.fit_job import Files, FitResult
from cprime.cli.model_spec import ALL, Model, ModelSpec
from cprime.cli.option_names import use_option_names
from cprime.cli.source import Source
from cprime.cli.summary import (
    describe_end,
    describe_file,
    describe_model,
    describe_shape,
    finding_line,
    fit_values,
    judge_number,
    quality_lines,
    sentences,
    show,
    verdict,
)


def show_fit(
    voice: Voice,
    fitted: FitResult,
    files: Files,
    typed: str,
    source: Source,
    chosen: Chosen | None = None,
) -> None:
    """Show what a fit came to, what was written, and what may be done next.

    Parameters
    ----------
    voice : Voice
    fitted : FitResult
    files : Files
    typed : str
        The command it was fitted by.
    source : Source
        Of its rows.
    chosen : Chosen, optional
        How many clusters there are, if that was asked first.
    """
    data, values = fitted.data, fit_values(fitted.estimator)
    found, written = verdict(values), files.written(fitted.complete)
    number = None
    if chosen is None:
        number = judge_number(fitted.estimator, data, fitted.weights)
    verdict_of_choice = ""
    if chosen is not None:
        verdict_of_choice = use_option_names(chosen.auto.verdict_)
    doubtful = number is not None and number.level != "good"
    if fitted.complete and doubtful:
        command = choose_command(source, data)
    elif fitted.complete:
        command = _next_command(fitted, files, found, source)
    else:
        command = resume_command(files.checkpoint, typed)
    restarts = len(getattr(fitted.estimator, "restarts_", {}).get("n_iter", [0]))
    voice.result(
        {
            **values,
            "data": data.origin,
            "rows": data.n_rows,
            "columns": data.n_features,
            "standardized": data.scale is not None,
            "seed": fitted.spec.seed,
            "restarts": restarts,
            "began": fitted.start_message or None,
            "seconds": fitted.seconds,
            "complete": fitted.complete,
            "verdict": None if found is None else found.headline,
            "number_of_clusters": number and sentences(number),
            "files": {name: str(path) for name, path in written.items()},
            "next": command,
            "choice": verdict_of_choice or None,
        }
    )
    best = f", best of {restarts}" if restarts > 1 else ""
    end = f"{describe_end(values, fitted.complete)}, {wording.seconds(fitted.seconds)}"
    began = literal(use_option_names(fitted.start_message))
    lines = [
        ("-k auto", literal(verdict_of_choice)),
        ("model", describe_model(values)),
        ("k", finding_line(number) if doubtful else ""),
        ("start", f"{values['seeding']}, seed {fitted.spec.seed}{best}"),
        ("", began),
        ("end", end),
        *quality_lines(values),
        ("wrote", ", ".join(describe_file(path) for path in written.values())),
    ]
    show(voice, describe_shape(data), [line for line in lines if line[1]])
    if fitted.complete:
        voice.say(f"\nnext: [bold]{literal(command)}[/]", whole=True)


def _next_command(fitted: FitResult, files: Files, found: Any, source: Source) -> str:
    """Return a command worth trying now."""
    spec = fitted.spec
    if source.cluster is not None:
        typed = ["predict", str(files.model), "NEW", *source.typed_cluster]
        typed += ["-o", "labels.parquet"]
    elif found is not None and found.level == "poor":
        model = [] if spec.model == Model.kmeans else ["--model", spec.model.value]
        shape = [] if spec.covariance is None else ["--covariance", spec.covariance]
        scaled = [] if fitted.data.scale is None else ["--standardize"]
        typed = ["compare", *source.typed, *scaled, "-k", str(spec.k), *model, *shape]
    elif files.report is None and found is not None:
        page = str(files.model.with_suffix(".html"))
        typed = ["report", str(files.model), *source.typed_for_model, "-o", page]
    else:
        new = f"NEW{source.path.suffix}"
        header = source.typed_header
        typed = ["predict", str(files.model), new, *header, "-o", "labels.parquet"]
    return shlex.join(["cprime", *typed])


def fit_command(spec: ModelSpec, source: Source, data: Any) -> str:
    """Return the command that fits what was chosen."""
    model = [] if spec.model == Model.kmeans else ["--model", spec.model.value]
    shape = [] if spec.covariance is None else ["--covariance", spec.covariance.value]
    scaled = [] if data.scale is None else ["--standardize"]
    kept = ["--c-prime", ALL if spec.c_prime == spec.k else str(spec.c_prime)]
    typed = [*source.typed, *scaled, "-k", str(spec.k), *model, *shape, *kept]
    return shlex.join(["cprime", "fit", *typed])


def choose_command(source: Source, data: Any) -> str:
    """Return the command that finds out how many clusters there are."""
    scaled = [] if data.scale is None else ["--standardize"]
    return shlex.join(["cprime", "choose", *source.typed, *scaled])


def resume_command(checkpoint: Path | None, typed: str) -> str:
    """Return the command that goes on with a fit that was stopped."""
    more = "" if checkpoint is not None else " --checkpoint DIR"
    return (
        f"{typed}{more}" if "--resume" in typed.split() else f"{typed}{more} --resume"
    )


def resume_hint(files: Files, typed: str) -> str:
    """Return the message for a user who has stopped a fit."""
    kept = f"The best so far is in {files.model}, marked interrupted."
    if files.checkpoint is None:
        return f"{kept} With --checkpoint DIR a fit can be resumed where it stopped."
    return f"{kept} {COMMAND_FOLLOWS}{resume_command(files.checkpoint, typed)}"
