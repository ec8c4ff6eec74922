"""`cprime bench`: how fast is it here, beside scikit-learn?"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Annotated, Any

from cprime.advice import wording
from cprime.cli.console import Voice
from cprime.cli.options import SEARCH, Json, Seed, Threads, option, use_threads

# Rounds are cut short rather than let a user wait longer than this.
SECONDS_AT_MOST = 50.0
MOST_ITERATIONS = 50
# With more than this to do for every processor, seconds are those of others too.
BUSY = 0.5


@dataclass
class Contestant:
    """Who runs, and how it went.

    Attributes
    ----------
    name : str
    fit : callable
        Returns a fitted estimator.
    evaluations : callable
        Distances it has computed.
    seconds : list of float
        Of every round.
    """

    name: str
    fit: Callable[[], Any]
    evaluations: Callable[[Any], int]
    seconds: list[float] = field(default_factory=list)
    fitted: Any = None

    def run(self) -> None:
        start = time.perf_counter()
        self.fitted = self.fit()
        self.seconds.append(time.perf_counter() - start)


@dataclass(frozen=True)
class Race:
    """Contestants with one task, one start and one measure of success."""

    title: str
    measure: str
    objective: Callable[[Any], float]
    contestants: tuple[Contestant, ...]


def bench(
    rounds: Annotated[
        int,
        option(
            "--rounds",
            panel=SEARCH,
            metavar="N",
            least=1,
            help="Runs of each; the median is reported.",
        ),
    ] = 3,
    seed: Seed = 0,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Measure k-means and EM on this machine, beside scikit-learn.

    Both get the same synthetic data, start and stopping rule, and take turns. It takes
    about half a minute.
    """
    use_threads(threads)
    busy = _load()
    voice, started, results = Voice(json), time.perf_counter(), []
    for share, race in enumerate(_races(seed), start=1):
        with voice.err.status(f"{race.title} ..."):
            for _ in range(rounds):
                for contestant in race.contestants:
                    contestant.run()
                if time.perf_counter() - started > share * SECONDS_AT_MOST / 2.0:
                    break
        results.append(_show(voice, race))
    voice.say("[dim]These are synthetic data. On yours: cprime compare DATA -k N[/]")
    if busy > BUSY:
        voice.warn(
            f"This machine was busy (a load of {busy:.1f} per processor before the "
            "start): measure again when it is idle."
        )
    voice.result({"races": results, "load_before": busy})


def _load() -> float:
    """Return how many processes each processor had lately, as far as is known."""
    if not hasattr(os, "getloadavg"):
        return 0.0
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def _races(seed: int) -> Iterator[Race]:
    import numpy as np
    import sklearn.cluster
    import sklearn.mixture

    import cprime

    rng = np.random.default_rng(seed)
    peer = f"scikit-learn {sklearn.__version__}"
    kmeans: Any = cprime.KMeans
    mixture: Any = cprime.GaussianMixture

    def made(n_rows: int, D: int, C: int, spread: float) -> tuple[Any, Any]:
        centers = spread * rng.standard_normal((C, D))
        X = centers[rng.integers(C, size=n_rows)] + rng.standard_normal((n_rows, D))
        return X.astype(np.float32), X[rng.choice(n_rows, C, replace=False)]

    X, start = made(50_000, 64, 200, 0.4)
    N, C = len(X), len(start)
    given: dict[str, Any] = {
        "init": start.astype(np.float32),
        "n_init": 1,
        "max_iter": MOST_ITERATIONS,
    }
    yield Race(
        f"k-means, {N:,} rows of {X.shape[1]} features, {C} clusters, at most "
        f"{MOST_ITERATIONS} iterations",
        "inertia",
        lambda fitted: float(fitted.inertia_),
        (
            Contestant(
                f"cprime {cprime.__version__}",
                lambda: kmeans(C, **given).fit(X),
                lambda fitted: int(fitted.evaluations_),
            ),
            Contestant(
                peer,
                lambda: sklearn.cluster.KMeans(C, **given).fit(X),
                # All rows against all clusters, and once more for the labels.
                lambda fitted: N * C * (int(fitted.n_iter_) + 1),
            ),
        ),
    )
    Y, means = made(40_000, 16, 40, 1.5)
    M, C_of_mixture = len(Y), len(means)
    same: dict[str, Any] = {
        "covariance_type": "diag",
        "means_init": means,
        "weights_init": np.full(C_of_mixture, 1.0 / C_of_mixture),
        "precisions_init": np.ones(means.shape),
        "tol": 1e-3,
        "max_iter": 100,
    }
    yield Race(
        f"EM, diagonal covariances, {M:,} rows of {Y.shape[1]} features, "
        f"{C_of_mixture} clusters",
        "L, nats per row",
        lambda fitted: float(fitted.score(Y)),
        (
            Contestant(
                f"cprime {cprime.__version__}",
                lambda: mixture(C_of_mixture, **same).fit(Y),
                lambda fitted: int(fitted.evaluations_),
            ),
            Contestant(
                peer,
                lambda: sklearn.mixture.GaussianMixture(
                    C_of_mixture, reg_covar=0.0, **same
                ).fit(Y),
                lambda fitted: M * C_of_mixture * (int(fitted.n_iter_) + 1),
            ),
        ),
    )


def _show(voice: Voice, race: Race) -> dict[str, Any]:
    from rich import box
    from rich.table import Table

    voice.say(f"[bold]{race.title}[/]")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for column in ("seconds", "iterations", "distances", race.measure):
        table.add_column(column, justify="right")
    rows = []
    for of in race.contestants:
        n_evaluations, reached = of.evaluations(of.fitted), race.objective(of.fitted)
        rows.append(
            {
                "name": of.name,
                "seconds": median(of.seconds),
                "rounds": len(of.seconds),
                "iterations": int(of.fitted.n_iter_),
                "evaluations": n_evaluations,
                "objective": reached,
            }
        )
        table.add_row(
            of.name,
            f"{median(of.seconds):.3g}",
            str(of.fitted.n_iter_),
            f"{n_evaluations / 1e6:,.0f} million",
            f"{reached:.7g}",
        )
    voice.say(table)
    ours, theirs = (median(of.seconds) for of in race.contestants)
    rounds = f"median of {wording.count(len(race.contestants[0].seconds), 'run')}"
    voice.say(f"cprime is {_speed(ours, theirs)} scikit-learn ({rounds}).\n")
    return {"race": race.title, "objective": race.measure, "contestants": rows}


def _speed(ours: float, theirs: float) -> str:
    """Return "1.5x faster than", or what else two times come to."""
    if f"{max(ours, theirs) / min(ours, theirs):.1f}" == "1.0":
        return "as fast as"
    if ours < theirs:
        return f"{theirs / ours:.1f}x faster than"
    return f"{ours / theirs:.1f}x slower than"
