"""What is said when a fit has ended, and what may be done next?"""

import shlex
from typing import Any

from rich.markup import escape

from cprime.cli import words
from cprime.cli.console import Voice
from cprime.cli.errors import printable
from cprime.cli.fitting import Files, Fitted
from cprime.cli.source import Source
from cprime.cli.spoken import spoken
from cprime.cli.summary import (
    end_in_words,
    file_in_words,
    lines_of_quality,
    measured,
    model_in_words,
    shape_in_words,
    show,
    verdict,
)
from cprime.cli.wanted import Model


def tell(
    voice: Voice, fitted: Fitted, files: Files, typed: str, source: Source
) -> None:
    """Say what a fit came to, what was written, and what may be done next.

    Parameters
    ----------
    voice : Voice
    fitted : Fitted
    files : Files
    typed : str
        The command it was fitted by.
    source : Source
        Of its rows.
    """
    data, values = fitted.data, measured(fitted.estimator)
    found, written = verdict(values), files.written(fitted.complete)
    if fitted.complete:
        command = _next(fitted, files, found, source)
    else:
        command = resumed(files, typed)
    restarts = len(getattr(fitted.estimator, "restarts_", {}).get("n_iter", [0]))
    voice.result(
        {
            **values,
            "data": data.origin,
            "rows": data.n_rows,
            "columns": data.n_features,
            "standardized": data.scale is not None,
            "seed": fitted.wanted.seed,
            "restarts": restarts,
            "began": fitted.began or None,
            "seconds": fitted.seconds,
            "complete": fitted.complete,
            "verdict": None if found is None else found.headline,
            "files": {name: str(path) for name, path in written.items()},
            "next": command,
        }
    )
    best = f", best of {restarts}" if restarts > 1 else ""
    end = f"{end_in_words(values, fitted.complete)}, {words.seconds(fitted.seconds)}"
    lines = [
        ("model", model_in_words(values)),
        ("start", f"{values['seeding']}, seed {fitted.wanted.seed}{best}"),
        ("end", end),
        *lines_of_quality(values),
        ("wrote", ", ".join(file_in_words(path) for path in written.values())),
    ]
    if fitted.began:
        lines.insert(2, ("", escape(printable(spoken(fitted.began)))))
    show(voice, shape_in_words(data), lines)
    if fitted.complete:
        voice.say(f"\nnext: [bold]{escape(printable(command))}[/]", whole=True)


def _next(fitted: Fitted, files: Files, found: Any, source: Source) -> str:
    """Return a command worth trying now."""
    wanted = fitted.wanted
    if found is not None and found.level == "poor":
        model = [] if wanted.model == Model.kmeans else ["--model", wanted.model.value]
        shape = [] if wanted.covariance is None else ["--covariance", wanted.covariance]
        scaled = [] if fitted.data.scale is None else ["--standardize"]
        typed = ["compare", *source.typed, *scaled, "-k", str(wanted.k), *model, *shape]
    elif files.report is None and found is not None:
        page = str(files.model.with_suffix(".html"))
        typed = ["report", str(files.model), *source.typed_for_model, "-o", page]
    else:
        new = f"NEW{source.path.suffix}"
        said = source.typed_header
        typed = ["predict", str(files.model), new, *said, "-o", "labels.parquet"]
    return shlex.join(["cprime", *typed])


def resumed(files: Files, typed: str) -> str:
    """Return the command that goes on with a fit that was stopped."""
    more = "" if files.checkpoint is not None else " --checkpoint DIR"
    return (
        f"{typed}{more}" if "--resume" in typed.split() else f"{typed}{more} --resume"
    )


def how_to_go_on(files: Files, typed: str) -> str:
    """Return what to tell a person who has stopped a fit."""
    kept = f"The best so far is in {files.model}, marked interrupted."
    if files.checkpoint is None:
        return f"{kept} With --checkpoint DIR a fit can go on where it was stopped."
    return f"{kept} To go on: {resumed(files, typed)}"
