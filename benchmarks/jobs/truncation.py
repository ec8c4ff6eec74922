"""What do C' > 1 and the gap cost, beside an iteration and a scan of k-means?"""

from functools import partial
from typing import Any

import numpy as np

import cprime
from benchmarks import contestants, data
from benchmarks.comparison import Row, compare, row
from benchmarks.data import Input
from benchmarks.harness import Timed, stopwatch
from benchmarks.jobs.fits import Job, on
from benchmarks.jobs.repeated import by_turns
from benchmarks.settings import Settings
from cprime.fitting import run_restarts
from cprime.theta import Theta

C_PRIMES = (1, 2, 3, 5)
# The first comes with the start; later ones are pruned as in any fit.
FIRST, LAST = 1, 11
SHORT = 0.05
ITERATIONS_BEFORE_GAP = 10


def costs(given: Input, X: data.Array, settings: Settings) -> list[Row]:
    """Compare the seconds of an iteration at several C', and at C' = C."""
    start = contestants.cprime_mixture(X, data.first_centers(X, given.C))
    kept = (*C_PRIMES, given.C)
    tasks = {c: partial(_iterations, X, start, c) for c in kept}
    rounds = 2 if settings.quick else 5
    if not settings.quick and stopwatch(lambda: tasks[1](0))[0] < SHORT:
        rounds = 30
    timed = by_turns(tasks, settings, rounds, {"": partial(tasks[given.C], 0)})
    per_iteration = {c: Timed([run[0] for run in timed[c].outcome]) for c in kept}
    rows = [
        row(
            f"cprime, C'={c}",
            per_iteration[c],
            ratio=per_iteration[c].seconds / per_iteration[1].seconds,
            evaluations=timed[c].outcome[-1][1],
            free_energy=timed[c].outcome[-1][2],
        )
        for c in kept
    ]
    return compare(f"{given.label(X)}, an iteration", rows)


def _iterations(
    X: data.Array, theta: Theta, C_prime: int, _: int
) -> tuple[float, int, float]:
    """Return the seconds and distances of an iteration, and F in the end."""
    steps = contestants.cprime_iterations(X, theta, C_prime, LAST)
    timed = steps[FIRST + 1 :]
    seconds = sum(step.seconds for step in timed) / len(timed)
    evaluations = sum(step.evaluations for step in timed) // len(timed)
    return seconds, evaluations, steps[-1].free_energy


def gaps(given: Input, X: data.Array, settings: Settings) -> list[Row]:
    """Compare what a fit spends on its gap with one exact scan, `predict`."""
    init = data.first_centers(X, given.C)
    scan = cprime.KMeans(given.C, init=init, max_iter=1).fit(X)
    tasks: dict[Any, Any] = {"scan": lambda _: scan.predict(X)}
    for c_prime in (1, 3, 5):
        tasks[c_prime] = partial(_seconds_of_the_gap, X, init, c_prime)
    rounds = 2 if settings.quick else 5
    timed = by_turns(tasks, settings, rounds, {"": lambda: tasks["scan"](0)})
    one = timed.pop("scan")
    of_gaps = {c: Timed([run[0] for run in timed[c].outcome]) for c in timed}
    rows = [row("cprime, one scan", one, ratio=1.0)] + [
        row(
            f"cprime, gap at C'={c}",
            of_gaps[c],
            ratio=of_gaps[c].seconds / one.seconds,
            gap=timed[c].outcome[-1][1],
        )
        for c in of_gaps
    ]
    return compare(f"{given.label(X)}, gap and scan", rows)


def _seconds_of_the_gap(
    X: data.Array, init: data.Array, c_prime: int, _: int
) -> tuple[float, float]:
    """Return how long a fit took for its gap, and the gap."""
    spent: list[float] = []
    found = run_restarts.gap_of_best

    def watched(*args: Any, **options: Any) -> Any:
        seconds, attributes = stopwatch(lambda: found(*args, **options))
        spent.append(seconds)
        return attributes

    run_restarts.gap_of_best = watched
    try:
        model = cprime.KMeans(
            len(init),
            init=init,
            c_prime=c_prime,
            max_iter=ITERATIONS_BEFORE_GAP,
            tol=0,
        ).fit(X)
    finally:
        run_restarts.gap_of_best = found
    if not spent:
        raise RuntimeError("A fit ended without its gap.")
    return sum(spent), float(np.float64(model.gap_))


COSTS = {
    "2d-15": Input("uneven", 15, 5000),
    "2d-100": Input("BIRCH", 100, 100_000),
    "16d-1000": Input("blobs", 1000, 100_000, 16),
    "kdd-200": Input("KDD", 200),
}
GAPS = {
    "kdd-200": Input("KDD", 200),
    "kdd-2000": Input("KDD", 2000),
    "blobs-1000": Input("blobs", 1000, 200_000, 64),
    "2d-100": Input("BIRCH", 100, 100_000),
}
JOBS: dict[str, Job] = {
    **{f"c_prime-{name}": on(given, costs) for name, given in COSTS.items()},
    **{f"gap-{name}": on(given, gaps) for name, given in GAPS.items()},
}
