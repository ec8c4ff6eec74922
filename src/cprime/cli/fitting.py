"""From rows to a model in a file: the work behind `cprime fit`."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from cprime.cli import words
from cprime.cli.console import Voice
from cprime.cli.errors import StoppedError
from cprime.cli.labelling import write_labels
from cprime.cli.progress import Follower
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
from cprime.cli.wanted import Wanted


@dataclass(frozen=True)
class Files:
    """What is to be written.

    Attributes
    ----------
    model : path
    report, labels : path or None
    checkpoint : path or None
        The folder for what is needed to go on.
    """

    model: Path
    report: Path | None
    labels: Path | None
    checkpoint: Path | None

    def written(self, complete: bool) -> dict[str, Path]:
        """Return the files there are when a fit has ended, by what they are."""
        files = {"model": self.model, "report": self.report, "labels": self.labels}
        known = {name: path for name, path in files.items() if path is not None}
        return known if complete else {"model": self.model}


@dataclass(frozen=True)
class Fitted:
    """A fit that has ended, complete or interrupted.

    Attributes
    ----------
    estimator : estimator
    data : Data
    seconds : float
    complete : bool
    wanted : Wanted
    """

    estimator: Any
    data: Any
    seconds: float
    complete: bool
    wanted: Wanted


def model_file(output: Path | None, data: Path) -> Path:
    """Return where the model goes, if need be beside where the person is.

    A file nobody has named is not overwritten.
    """
    if output is not None:
        return output
    path = Path(f"{data.name.partition('.')[0] or 'model'}.cprime")
    if path.exists():
        raise typer.BadParameter(
            f"{path} is there already; say -o {path} to overwrite it, or another name",
            param_hint="-o",
        )
    return path


def opened(
    path: Path,
    columns: str | None,
    memory: str | None,
    scratch: Path | None,
    standardize: bool,
) -> Any:
    """Return the rows of a file as they are to be fitted."""
    from cprime.sources import open_data

    data = open_data(path, columns, memory=memory, scratch=scratch)
    return _standardized(data) if standardize else data


def _standardized(data: Any) -> Any:
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    for _, values in data.blocks():
        scaler.partial_fit(values)
    return data.scaled(scaler.mean_, scaler.scale_)


def refuse_too_few_rows(data: Any, k: int) -> None:
    """Raise if there cannot be as many clusters."""
    if k > data.n_rows:
        raise ValueError(
            f"{data.origin} has {words.count(data.n_rows, 'row')}, fewer than the {k} "
            "clusters asked for: give a smaller -k."
        )


def fit_and_keep(
    wanted: Wanted,
    data: Any,
    files: Files,
    typed: str,
    follow: Follower,
    every: float,
    resume: bool,
) -> Fitted:
    """Fit, and write all files; after an interrupt the model alone.

    Parameters
    ----------
    wanted : Wanted
    data : Data
    files : Files
    typed : str
        The command, as it is to be remembered.
    follow : Follower
    every : float
        Seconds from one checkpoint to the next.
    resume : bool
        Whether to go on from one.
    """
    import cprime

    follow.stage(f"choosing where {words.count(wanted.k, 'cluster')} start")
    estimator, started, complete = wanted.estimator(), time.perf_counter(), True
    checkpoint = None
    if files.checkpoint is not None:
        checkpoint = cprime.Checkpoint(files.checkpoint, every=every, resume=resume)
    try:
        estimator.fit(data, progress=follow)
    except KeyboardInterrupt:
        if not hasattr(estimator, "n_iter_"):
            raise StoppedError(
                "No iteration was complete, so there is nothing to keep."
            ) from None
        complete = False
    seconds = time.perf_counter() - started
    fitted = Fitted(estimator, data, seconds, complete, wanted)
    _write(fitted, files, typed, follow)
    return fitted


def _write(fitted: Fitted, files: Files, typed: str, follow: Follower) -> None:
    import cprime
    from cprime.estimators.scaling import behind

    estimator, data = fitted.estimator, fitted.data
    follow.stage(f"writing {files.model.name}")
    about = {
        "command": typed,
        "data": f"{data.origin}, {words.count(data.n_rows, 'row')}",
        "rows": data.n_rows,
        "fingerprint": data.fingerprint() if fitted.complete else None,
        "seconds": fitted.seconds,
        "seed": fitted.wanted.seed,
        "complete": fitted.complete,
        "date": datetime.now(UTC).date().isoformat(),
    }
    kept = estimator if data.scale is None else behind(data, estimator)
    cprime.save(kept, files.model, about=about)
    if not fitted.complete:
        return
    if files.report is not None:
        from cprime import report

        follow.stage(f"writing {files.report.name}")
        scaling = None if data.scale is None else (data.shift, data.scale)
        report.write(files.report, estimator, data, scaling=scaling, about=about)
    if files.labels is not None:
        follow.stage(f"writing {files.labels.name}")
        write_labels(files.labels, estimator, data, follow)


def tell(voice: Voice, fitted: Fitted, files: Files) -> None:
    """Say what a fit came to, what was written, and what may be done next."""
    data, values = fitted.data, measured(fitted.estimator)
    found, written = verdict(values), files.written(fitted.complete)
    following_command = _next(fitted, files, found)
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
            "seconds": fitted.seconds,
            "complete": fitted.complete,
            "verdict": None if found is None else found.headline,
            "files": {name: str(path) for name, path in written.items()},
            "next": following_command,
        }
    )
    best = f", best of {restarts}" if restarts > 1 else ""
    end = f"{end_in_words(values, fitted.complete)}, {words.seconds(fitted.seconds)}"
    show(
        voice,
        shape_in_words(data),
        [
            ("model", model_in_words(values)),
            ("start", f"{values['seeding']}, seed {fitted.wanted.seed}{best}"),
            ("end", end),
            *lines_of_quality(values),
            ("wrote", ", ".join(file_in_words(path) for path in written.values())),
        ],
    )
    voice.say(f"\nnext: [bold]{following_command}[/]")


def _next(fitted: Fitted, files: Files, found: Any) -> str:
    """Return a command worth trying now."""
    if found is not None and found.level == "poor":
        return "cprime compare ..."
    return f"cprime predict {files.model} NEW-DATA -o labels.parquet"


def how_to_go_on(fitted: Fitted, files: Files, typed: str) -> str:
    """Return what to tell a person who has stopped a fit."""
    kept = f"The best so far is in {files.model}, marked incomplete."
    if files.checkpoint is None:
        return f"{kept} With --checkpoint DIR a fit can go on where it was stopped."
    again = typed if "--resume" in typed.split() else f"{typed} --resume"
    return f"{kept} To go on: {again}"
