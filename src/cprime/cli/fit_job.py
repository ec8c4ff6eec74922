"""From rows to a model in a file: the work behind `cprime fit`."""

import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cprime.advice import wording
from cprime.cli.errors import StoppedError, UsageError, line_of
from cprime.cli.labelling import write_labels
from cprime.cli.model_spec import ModelSpec
from cprime.cli.progress import Follower
from cprime.cli.source import naming_lines

MODEL_SUFFIX = ".cprime"


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
class FitResult:
    """A fit that has ended, complete or interrupted.

    Attributes
    ----------
    estimator : estimator
    data : Data
    start_message : str
        Which checkpoint it went on from, if any.
    seconds : float
    complete : bool
    spec : ModelSpec
    weights : ndarray of shape (n_rows,), or None
    """

    estimator: Any
    data: Any
    start_message: str
    seconds: float
    complete: bool
    spec: ModelSpec
    weights: Any = None


def model_file(output: Path | None, data: Path) -> Path:
    """Return where the model goes, if need be in the current folder."""
    if data.suffix == MODEL_SUFFIX:
        raise UsageError(f"{data} is a model: give the file that holds the rows")
    if output is not None:
        return output
    return Path(f"{data.name.partition('.')[0] or 'model'}{MODEL_SUFFIX}")


def refuse_to_overwrite(path: Path) -> None:
    """Raise if there is a file that the user has not allowed to overwrite."""
    if path.exists():
        raise UsageError(
            f"{path} exists; use -o to overwrite it or to choose another name"
        )


def refuse_place_of_checkpoints(files: Files) -> None:
    """Raise if the model would take the place of a checkpoint."""
    from cprime.checkpointing.rotation import NAMES
    from cprime.storage.locks import NAME as LOCK

    if files.checkpoint is None or files.model.name not in (*NAMES, LOCK):
        return
    if os.path.realpath(files.model.parent) == os.path.realpath(files.checkpoint):
        raise ValueError(
            f"{files.model} is where a checkpoint goes: give the model another name."
        )


def refuse_too_few_rows(data: Any, k: int | None) -> None:
    """Raise if there cannot be as many clusters."""
    if k is not None and k > data.n_rows:
        raise ValueError(
            f"{data.origin} has {wording.count(data.n_rows, 'row')}, fewer than the "
            f"{k} clusters asked for: give a smaller -k."
        )


def fit_and_save(
    spec: ModelSpec,
    data: Any,
    files: Files,
    typed: str,
    follow: Follower,
    every: float,
    resume: bool,
    weights: Any = None,
) -> FitResult:
    """Fit, and write all files; after an interrupt the model alone.

    Parameters
    ----------
    spec : ModelSpec
    data : Data
    files : Files
    typed : str
        The command, as it is to be remembered.
    follow : Follower
    every : float
        Seconds from one checkpoint to the next.
    resume : bool
        Whether to go on from one.
    weights : ndarray of shape (n_rows,), optional
        How often each row counts.
    """
    import cprime

    assert spec.k is not None
    follow.stage(f"initialising {wording.count(spec.k, 'cluster')}")
    checkpoint = None
    if files.checkpoint is not None:
        checkpoint = cprime.Checkpoint(files.checkpoint, every=every, resume=resume)
    estimator, started, complete = spec.estimator(), time.perf_counter(), True
    data.on_rows = follow.read
    try:
        with naming_lines(data):
            estimator.fit(
                data, sample_weight=weights, checkpoint=checkpoint, progress=follow
            )
    except KeyboardInterrupt:
        if not hasattr(estimator, "n_iter_"):
            raise StoppedError(
                "No iteration was complete: there is nothing to keep."
            ) from None
        complete = False
    seconds = time.perf_counter() - started
    start_message = checkpoint.message if checkpoint is not None and resume else ""
    of = start_message, seconds, complete, spec, weights
    fitted = FitResult(estimator, data, *of)
    save(fitted, files, typed, follow)
    return fitted


def save(fitted: FitResult, files: Files, typed: str, follow: Follower) -> None:
    """Write all files; of a fit that was interrupted, the model alone.

    Parameters
    ----------
    fitted : FitResult
    files : Files
    typed : str
        The command, as it is to be remembered.
    follow : Follower
    """
    import cprime
    from cprime.model_files.scaling import behind

    estimator, data = fitted.estimator, fitted.data
    follow.stage(f"writing {files.model.name}")
    about = {
        "command": typed,
        "origin": data.origin,
        "rows": data.n_rows,
        "seed": fitted.spec.seed,
        "seconds": fitted.seconds,
        "date": datetime.now(UTC).date().isoformat(),
        "complete": fitted.complete,
    }
    if fitted.complete:
        about["fingerprint"] = data.fingerprint()
    kept = estimator if data.scale is None else behind(data, estimator)
    cprime.save(kept, files.model, about=about)
    if fitted.complete:
        try:
            _write_more(fitted, files, provenance(about), follow)
        except Exception as error:
            message = f"{line_of(error)} The model itself is in {files.model}."
            raise ValueError(message) from error


def _write_more(
    fitted: FitResult, files: Files, about: dict[str, str], follow: Follower
) -> None:
    if files.report is not None:
        from cprime import report

        follow.stage(f"writing {files.report.name}")
        report.write(files.report, fitted.estimator, fitted.data, about=about)
    if files.labels is not None:
        follow.stage(f"writing {files.labels.name}")
        write_labels(files.labels, fitted.estimator, fitted.data, follow)


def provenance(about: dict[str, Any]) -> dict[str, str]:
    """Return what a report says of where a model comes from, in words.

    Parameters
    ----------
    about : dict
        As a model file has it; anything may be in there.
    """
    from cprime.sources.display import short

    shown = {
        name: short(about[name])
        for name in ("command", "origin", "fingerprint", "date")
        if isinstance(about.get(name), str)
    }
    if isinstance(about.get("seconds"), (int, float)):
        shown["time of the fit"] = wording.seconds(about["seconds"])
    return shown
