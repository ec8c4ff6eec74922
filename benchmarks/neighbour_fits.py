"""How long do whole fits take that look at neighbouring clusters, beside exact ones?

    python -m benchmarks.neighbour_fits

Default fits of the protein data from the same seeds by k-means||. Seconds are from the
beginning of `fit`: to its end, and to the first iteration whose F is within 0.02 nats
per row of where the exact search ends.
"""

import json
import time
from pathlib import Path
from typing import Any

from benchmarks import data
from cprime import KMeans

CASES = ((2000, 1), (2000, 3), (8000, 1), (8000, 3))
SEARCHES = ("exact", "neighbours")
WITHIN = 0.02
RESULTS = Path(__file__).parent / "results" / "neighbour_fits.json"


def fitted(X: data.Array, C: int, c_prime: int, search: str) -> dict[str, Any]:
    """Fit, and return when F was how high."""
    seconds, energies = [], []
    begin = time.perf_counter()

    def note(step: Any) -> None:
        seconds.append(time.perf_counter() - begin)
        energies.append(step.free_energy)

    kmeans = KMeans(C, c_prime=c_prime, search=search, random_state=0)
    kmeans.fit(X, progress=note)
    return {
        "total": time.perf_counter() - begin,
        "seconds": seconds,
        "free_energy": energies,
        "n_iter": int(kmeans.n_iter_),
        "evaluations": int(kmeans.evaluations_),
        "n_missed": int(getattr(kmeans, "n_missed_", 0)),
    }


def reached(run: dict[str, Any], free_energy: float) -> float | None:
    """Return the seconds after which F was as high, if it ever was."""
    for seconds, energy in zip(run["seconds"], run["free_energy"], strict=True):
        if energy >= free_energy:
            return float(seconds)
    return None


def main() -> None:
    """Measure, write down, and print a table."""
    X = data.kdd()
    if X is None:
        raise SystemExit("There are no protein data: set CPRIME_DATA to their folder.")
    print("| C | C' | search | F | seconds | seconds to within 0.02 of the exact F |")
    print("|---|---|---|---|---|---|")
    rows = []
    for C, c_prime in CASES:
        runs = {search: fitted(X, C, c_prime, search) for search in SEARCHES}
        wanted = runs["exact"]["free_energy"][-1] - WITHIN
        for search, run in runs.items():
            rows.append({"C": C, "c_prime": c_prime, "search": search, **run})
            near = reached(run, wanted)
            told = "not reached" if near is None else f"{near:.1f}"
            ended = f"{run['free_energy'][-1]:.3f} | {run['total']:.1f}"
            print(f"| {C} | {c_prime} | {search} | {ended} | {told} |", flush=True)
    RESULTS.write_text(json.dumps({"within": WITHIN, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
