"""Counts the instructions of a small fit, part by part, and holds them to a budget.

`python tests/budget.py` runs itself under callgrind, which takes some minutes, and
fails if a part takes more than `docs/project/internals/small_fits.md` allows. Counts
hardly depend on the machine or its load, times do.
"""

import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Thousands of instructions of one fit of iris, C = 3; of its parts; of a hundred
# restarts; and of a mixture.
BUDGET = {
    "checks": 90,
    "units and spread": 260,
    "seeding": 720,
    "sweeps": 640,
    "gap and attributes": 820,
    "KMeans(3).fit": 3_900,
    "KMeans(3, n_init=100).fit": 105_000,
    "GaussianMixture(3).fit": 50_000,
}
REPEATED = 5
# What `math.lgamma` is to the compiler. Nothing else here calls it, and callgrind
# writes its counts down whenever it is entered.
MARK = "math_lgamma"


def parts():
    """Yield the name of every part, and a function that does it."""
    import numpy as np
    from sklearn.datasets import load_iris

    from cprime import GaussianMixture, KMeans, convergence, lloyd
    from cprime.checking import inputs
    from cprime.fitting.gap import gap_of_best
    from cprime.fitting.initialization import Starts
    from cprime.fitting.restarts import Restarts
    from cprime.fitting.training import Training
    from cprime.fitting.unwatched import run_unwatched
    from cprime.kernels import get_kernel

    X = load_iris().data
    kmeans = KMeans(3, random_state=0)
    kernel, weights = get_kernel("auto"), inputs.checked_weights(None, len(X))
    training = Training.of(X, weights, kernel)
    random_state = np.random.RandomState(0)

    def starts():
        return Starts("k-means++", 3, training, random_state)

    results, _ = kmeans._prepared(training, starts(), 1)
    stop = convergence.Tolerance(1e-4 * training.overall.covariance, 1e-4)
    seeds = starts().next()().means[None]
    restarts = Restarts(results.problem, stop, 300, results)
    run_unwatched(restarts, [starts().next()], X.dtype)

    def checks():
        kmeans._validate_params()
        kmeans._checked_rows(X)
        inputs.checked_weights(None, len(X))

    yield "checks", checks
    yield "units and spread", lambda: Training.of(X, weights, kernel)
    yield "seeding", lambda: starts().next()()
    yield "sweeps", lambda: lloyd.fits(results.problem, stop, 300, seeds, X.dtype, [])

    def attributes():
        return results.complete(restarts) | gap_of_best(results, restarts.state)

    yield "gap and attributes", attributes
    yield "KMeans(3).fit", lambda: KMeans(3, random_state=0).fit(X)
    many = KMeans(3, n_init=100, random_state=0)
    yield "KMeans(3, n_init=100).fit", lambda: many.fit(X)
    mixture = GaussianMixture(3, random_state=0)
    yield "GaussianMixture(3).fit", lambda: mixture.fit(X)


def run_parts():
    """Do every part several times, between marks."""
    for _, part in parts():
        part()
        math.lgamma(1.0)
        for _ in range(REPEATED):
            part()
        math.lgamma(1.0)


def counted():
    """Return thousands of instructions of every part, once."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--dump-before={MARK}",
                f"--callgrind-out-file={folder}/counts",
                sys.executable,
                __file__,
                "--parts",
            ],
            check=True,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
        )
        dumps = sorted(Path(folder).glob("counts.*"), key=lambda f: int(f.suffix[1:]))
        totals = [int(re.search(r"totals: (\d+)", f.read_text())[1]) for f in dumps]
    if len(totals) < 2 * len(BUDGET):
        raise SystemExit(f"This Python has no symbol {MARK}: use one with symbols.")
    # Two marks a part: before the second lies what was counted.
    return {name: n / REPEATED / 1000 for name, n in zip(BUDGET, totals[1::2])}


def main():
    """Print what every part takes and may take; fail if one takes more."""
    found = counted()
    for part, count in found.items():
        allowed = BUDGET[part]
        verdict = "" if count <= allowed else "  TOO MUCH"
        print(f"{part:28}{count:10,.0f} of {allowed:10,} thousand{verdict}")
    sys.exit(any(count > BUDGET[part] for part, count in found.items()))


if __name__ == "__main__":
    run_parts() if sys.argv[1:] == ["--parts"] else main()
