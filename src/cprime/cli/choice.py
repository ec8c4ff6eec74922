"""How many clusters? The search behind `cprime choose` and `cprime fit -k auto`."""

import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from cprime.advice import of_choice, wording
from cprime.cli.errors import StoppedError
from cprime.cli.model_spec import Covariance, Model, ModelSpec
from cprime.cli.progress import Follower
from cprime.cli.source import naming_lines

ALL = "all"
# Columns whose spreads differ by more are also looked at standardized.
UNEQUAL = 10.0
# Rows by which that is judged.
LOOKED_AT = 4096


class Criterion(StrEnum):
    """By what numbers of clusters are compared."""

    bic_free_energy = "bic_free_energy"
    icl = "icl"
    bic = "bic"
    held_out = "held_out"


@dataclass(frozen=True)
class Search:
    """What is to be searched for.

    Attributes
    ----------
    max_clusters : int or None
    shapes : list of str, or "all"
    criterion : Criterion
    seed : int
    c_prime : int or "auto", default="auto"
        Clusters every row keeps in the end.
    """

    max_clusters: int | None
    shapes: list[str] | str
    criterion: Criterion
    seed: int
    c_prime: int | str = "auto"

    def estimator(self) -> Any:
        """Return it as Python knows it, ready to be fitted."""
        import cprime

        return cprime.AutoMixture(  # type: ignore[no-untyped-call]
            self.max_clusters,
            shapes=self.shapes,
            criterion=self.criterion.value,
            c_prime=self.c_prime,
            random_state=self.seed,
        )


@dataclass(frozen=True)
class Chosen:
    """A search that has ended, complete or interrupted.

    Attributes
    ----------
    auto : AutoMixture
    seconds : float
    complete : bool
    start_message : str
        Which checkpoint it went on from, if any.
    """

    auto: Any
    seconds: float
    complete: bool
    start_message: str

    @property
    def spec(self) -> ModelSpec:
        """What `cprime fit` would have to be asked for."""
        auto = self.auto
        is_mixture = type(auto.best_estimator_).__name__ == "GaussianMixture"
        return ModelSpec(
            model=Model.mixture if is_mixture else Model.kmeans,
            k=auto.n_clusters_,
            c_prime=auto.c_prime_,
            covariance=Covariance(auto.shape_) if is_mixture else None,
            init=None,
            restarts=None,
            max_iter=None,
            tol=None,
            seed=auto.random_state,
        )


def parse_shapes(text: str) -> list[str] | str:
    """Return shapes as they were typed, separated by commas."""
    if text == ALL:
        return ALL
    shapes = [shape.strip() for shape in text.split(",")]
    known = [shape.value for shape in Covariance]
    for shape in shapes:
        if shape not in known:
            raise typer.BadParameter(
                f"{shape!r} is not a shape; choose from {', '.join(known)}, or {ALL}",
                param_hint="--shapes",
            )
    return shapes


def choose_clusters(
    search: Search,
    rows: Any,
    follow: Follower,
    checkpoint: Path | None = None,
    every: float = 60.0,
    resume: bool = False,
    weights: Any = None,
) -> Chosen:
    """Search, and keep the best so far if it is interrupted.

    Parameters
    ----------
    search : Search
    rows : Data
    follow : Follower
    checkpoint : path, optional
        The folder for what is needed to go on.
    every : float, default=60.0
        Seconds from one checkpoint to the next.
    resume : bool, default=False
        Whether to go on from one.
    weights : ndarray of shape (n_rows,), optional
        How often each row counts.
    """
    import cprime

    follow.stage("searching for clusters")
    kept = None
    if checkpoint is not None:
        kept = cprime.Checkpoint(checkpoint, every=every, resume=resume)
    auto, started, complete = search.estimator(), time.perf_counter(), True
    rows.on_rows = follow.read
    try:
        with naming_lines(rows):
            auto.fit(
                rows, sample_weight=weights, checkpoint=kept, progress=follow.trial
            )
    except KeyboardInterrupt:
        if not hasattr(auto, "n_clusters_"):
            raise StoppedError(
                "No fit was complete: there is nothing to keep."
            ) from None
        complete = False
    seconds = time.perf_counter() - started
    message = kept.message if kept is not None and resume else ""
    return Chosen(auto, seconds, complete, message)


def scaling_matters(
    search: Search, rows: Any, chosen: Chosen, follow: Follower, weights: Any = None
) -> Any:
    """Return what the answer would be if columns were standardized, as a `Finding`.

    None if they hardly differ in scale, or are standardized already.
    """
    import numpy as np

    from cprime.sources.standardize import shift_and_scale

    if rows.scale is not None or rows.n_features < 2:
        return None
    numbers = np.linspace(0, rows.n_rows - 1, min(LOOKED_AT, rows.n_rows)).astype(int)
    spreads = np.std(rows.take(numbers).astype(np.float64), axis=0)
    varying = spreads[spreads > 0]
    if len(varying) < 2 or varying.max() <= UNEQUAL * varying.min():
        return None
    follow.stage("searching with standardized columns")
    scaled = rows.scaled(*shift_and_scale(rows, weights))
    other = search.estimator().fit(scaled, sample_weight=weights, progress=follow.trial)
    return of_choice.scaling(chosen.auto.n_clusters_, other.n_clusters_)


def describe_tried(chosen: Chosen) -> str:
    """Return "38 mixtures of 1 to 13 clusters, 0.762 s"."""
    results = chosen.auto.results_
    fits = wording.count(len(results["shape"]), "mixture")
    most = int(results["n_clusters"].max())
    return f"{fits} of 1 to {most:,} clusters, {wording.seconds(chosen.seconds)}"
