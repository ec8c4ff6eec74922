"""How good is k-means on a coreset of the protein data, beside a uniform sample?

    python -m benchmarks.coreset

J of all rows under the means that were found, over that of a fit to all rows, and CPU
seconds of both, drawing included: the same clusters, seeds of the same kind.
"""

import json
import time
from functools import partial
from pathlib import Path

import numpy as np

from cprime import KMeans, coreset
from cprime.datasets import fetch_kdd_protein

CLUSTERS = 50
SHARES = (0.01, 0.05, 0.2)
SEEDS = range(5)
RESULTS = Path(__file__).parent / "results" / "coreset.json"


def fitted(seed, rows, weights=None):
    """Return the means found on some rows."""
    kmeans = KMeans(CLUSTERS, random_state=seed)
    return kmeans.fit(rows, sample_weight=weights)


def timed(work):
    """Return what is found, and the CPU seconds it took."""
    start = time.process_time()
    return work(), time.process_time() - start


def uniform(X, m, seed):
    """Return a sample without replacement, of equal weights."""
    return X[np.random.default_rng(seed).choice(len(X), m, replace=False)]


def on_coreset(X, m, seed):
    """Return a fit to a coreset."""
    rows, weights = coreset(X, m, random_state=seed)
    return fitted(seed, rows, weights)


def main():
    """Measure, write the results, and print them as a table."""
    X = fetch_kdd_protein()
    full = [timed(partial(fitted, seed, X)) for seed in SEEDS]
    J = float(np.mean([kmeans.inertia_ for kmeans, _ in full]))
    of_full = float(np.mean([seconds for _, seconds in full]))
    ways = {
        "coreset": on_coreset,
        "uniform sample": lambda X, m, seed: fitted(seed, uniform(X, m, seed)),
    }
    results = [{"way": "all rows", "share": 1.0, "ratio": 1.0, "seconds": of_full}]
    results[0]["spread"] = float(np.std([k.inertia_ for k, _ in full], ddof=1) / J)
    for share in SHARES:
        m = round(share * len(X))
        for way, work in ways.items():
            found = [timed(partial(work, X, m, seed)) for seed in SEEDS]
            ratios = [-kmeans.score(X) / J for kmeans, _ in found]
            results.append(
                {
                    "way": way,
                    "share": share,
                    "ratio": float(np.mean(ratios)),
                    "spread": float(np.std(ratios, ddof=1)),
                    "seconds": float(np.mean([seconds for _, seconds in found])),
                }
            )
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print("| rows | drawn as | J over that of all rows | CPU seconds |")
    print("|---|---|---|---|")
    for of in results:
        ratio = f"{of['ratio']:.4f} ± {of['spread']:.4f}"
        print(f"| {of['share']:.0%} | {of['way']} | {ratio} | {of['seconds']:.2f} |")


if __name__ == "__main__":
    main()
