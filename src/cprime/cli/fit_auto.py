"""`cprime fit -k auto`: the number of clusters is chosen first."""

import sys
from pathlib import Path
from typing import Any

import typer

from cprime.cli.choice import ALL, Chosen, Criterion, Search, choose_clusters
from cprime.cli.errors import StoppedError
from cprime.cli.fit_job import Files, FitResult, save
from cprime.cli.model_spec import Covariance, Model, ModelSpec
from cprime.cli.progress import Follower

# Where, in the folder of a checkpoint, the search before a fit is kept.
CHOICE = "choice"


def is_free(context: typer.Context, spec: ModelSpec) -> bool:
    """Return whether the model is to be chosen too, not only the number of clusters.

    Raises if there are options for a fit of a model that nobody has named.
    """
    if spec.k is not None or _was_typed(context, "model"):
        return False
    for name in ("init", "restarts", "max_iter", "tol"):
        if getattr(spec, name) is not None:
            raise typer.BadParameter(
                "-k auto also chooses the model; name one with --model to set this",
                param_hint=f"--{name.replace('_', '-')}",
            )
    return True


def choose_and_save(
    spec: ModelSpec,
    c_prime: str | None,
    rows: Any,
    files: Files,
    typed: str,
    follow: Follower,
    every: float,
    resume: bool,
    weights: Any,
) -> tuple[Chosen, FitResult]:
    """Choose number and model, and write all files.

    Parameters as for `fit_and_save`; `c_prime` is as it was typed.
    """
    kept = "auto" if c_prime is None else (spec.c_prime or sys.maxsize)
    search = Search(None, ALL, Criterion.bic_free_energy, spec.seed, kept)
    folder = files.checkpoint
    chosen = choose_clusters(search, rows, follow, folder, every, resume, weights)
    of = chosen.start_message, chosen.seconds, chosen.complete, chosen.spec, weights
    fitted = FitResult(chosen.auto.best_estimator_, rows, *of)
    save(fitted, files, typed, follow)
    return chosen, fitted


def with_chosen_number(
    spec: ModelSpec,
    rows: Any,
    follow: Follower,
    checkpoint: Path | None,
    every: float,
    resume: bool,
    weights: Any,
) -> tuple[Chosen, ModelSpec]:
    """Choose the number of clusters of a model, among the shapes it may have."""
    shapes: list[str] | str = [Covariance.isotropic.value]
    if spec.model == Model.mixture:
        shapes = ALL if spec.covariance is None else [spec.covariance.value]
    search = Search(None, shapes, Criterion.bic_free_energy, spec.seed)
    folder = None if checkpoint is None else checkpoint / CHOICE
    chosen = choose_clusters(search, rows, follow, folder, every, resume, weights)
    if not chosen.complete:
        raise StoppedError(
            "The number of clusters was not chosen yet, so there is nothing to keep; "
            f"the best so far was {chosen.auto.n_clusters_:,}."
        )
    return chosen, spec.with_choice(chosen.auto.n_clusters_, chosen.auto.shape_)


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
