"""Whole fits of k-means: by default, and from the same array."""

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks import contestants, data, judge
from benchmarks.comparison import Row, compare, each_input, row
from benchmarks.data import Input
from benchmarks.experiments.fit import compare_fits
from benchmarks.harness import Timed, interleave
from benchmarks.jobs.repeated import by_turns
from benchmarks.settings import Settings

# faiss has other defaults: 25 iterations on a sample of the rows.
BY_DEFAULT = ("cprime", "scikit-learn", "intelex")
FROM_AN_ARRAY = ("cprime", "scikit-learn", "intelex", "faiss")
SEEDS = 5
# So many that the median of short fits means something.
SHORT_ROUNDS = 50
WARM_UP_ROWS_PER_CENTER = 2
QUICK = Input("blobs", 10, 1000, 16)
Job = Callable[[Settings], tuple[list[Row], list[str]]]


def on(given: Input, comparison: Callable[..., list[Row]], **options: Any) -> Job:
    """Return a job: a comparison on one input, or on a tiny one of the same kind."""

    def job(settings: Settings) -> tuple[list[Row], list[str]]:
        tiny = given if given.source in data.SMALL else QUICK
        inputs = (tiny if settings.quick else given,)
        return each_input(inputs, partial(comparison, **options), settings)

    return job


def default_fits(
    given: Input, X: data.Array, settings: Settings, *, rounds: int = SEEDS, **options
) -> list[Row]:
    """Compare fits by default parameters; every round has another `random_state`."""
    names = contestants.installed(BY_DEFAULT)
    few = X[: WARM_UP_ROWS_PER_CENTER * given.C]
    options = options if not settings.quick else dict.fromkeys(options, 2)
    tasks = {name: partial(_fit, name, X, given.C, options) for name in names}
    warm_ups = {name: partial(_fit, name, few, given.C, {}, 0) for name in names}
    rounds = min(rounds, settings.rounds) if settings.quick else rounds
    timed = by_turns(tasks, settings, rounds, warm_ups)
    said = "".join(f", {key}={value}" for key, value in options.items())
    return compare(
        f"{given.label(X)}{said}", [_row(name, X, timed[name]) for name in names]
    )


def iterations(
    given: Input, X: data.Array, settings: Settings, *, max_iter: int
) -> list[Row]:
    """Compare whole fits that are given an array and few iterations."""
    init = data.first_centers(X, given.C)
    names = contestants.installed(FROM_AN_ARRAY)
    tasks = {n: partial(contestants.fit, n, X, init, max_iter) for n in names}
    timed = interleave(tasks, settings)
    rows = [
        row(
            name,
            timed[name],
            iterations=timed[name].outcome.iterations,
            evaluations=timed[name].outcome.evaluations,
            objective=judge.objective(X, timed[name].outcome.centers),
        )
        for name in names
    ]
    plural = "s" if max_iter > 1 else ""
    return compare(f"{given.label(X)}, {max_iter} iteration{plural}", rows)


def _fit(name: str, X: data.Array, C: int, options: dict[str, Any], seed: int) -> Any:
    return contestants.kmeans_class(name)(C, random_state=seed, **options).fit(X)


def _row(name: str, X: data.Array, timed: Timed) -> Row:
    models = timed.outcome
    evaluations = [getattr(model, "evaluations_", None) for model in models]
    objectives = [judge.objective(X, model.cluster_centers_) for model in models]
    return row(
        name,
        timed,
        iterations=statistics.mean(model.n_iter_ for model in models),
        evaluations=None if None in evaluations else statistics.mean(evaluations),
        objective=statistics.mean(objectives),
        objectives=objectives,
    )


KDD, KDD_2000 = Input("KDD", 200), Input("KDD", 2000)
BLOBS = Input("blobs", 1000, 200_000, 64)
LARGE = {"kdd-200": KDD, "blobs-1000": BLOBS, "kdd-2000": KDD_2000}
SINGLE = {"iris": Input("iris", 3), "wine": Input("wine", 3)}
SINGLE["digits"] = Input("digits", 10)
RESTARTED = {
    **SINGLE,
    "uneven-15": Input("uneven", 15, 2500),
    "grid-25": Input("BIRCH", 25, 2500),
}
FIXED = {"kdd-300": Input("KDD", 300), "blobs-800": Input("blobs", 800, 150_000, 48)}
SHORT = partial(on, comparison=default_fits, rounds=SHORT_ROUNDS)

JOBS: dict[str, Job] = {
    **{f"fit-{name}": on(given, default_fits) for name, given in LARGE.items()},
    **{
        f"iterations-{most}-{name}": on(given, iterations, max_iter=most)
        for name, given in LARGE.items()
        for most in (1, 10)
    },
    **{f"fixed-{name}": on(given, compare_fits) for name, given in FIXED.items()},
    **{
        f"restarts-{name}": on(given, default_fits, n_init=100)
        for name, given in RESTARTED.items()
    },
    **{f"single-{name}": SHORT(given) for name, given in SINGLE.items()},
}
