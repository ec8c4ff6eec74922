"""The runs of k-means-C' on the protein data: which, and as curves."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cprime.experiments import protein, published
from cprime.experiments.records import Records
from cprime.experiments.settings import Setting
from cprime.typing import Array


@dataclass(frozen=True)
class Size:
    """How much of it is run."""

    C: int
    c_primes: tuple[int, ...]
    n_runs: int
    n_iterations: int
    n_rows: int


FULL = Size(
    published.KDD_C,
    published.KDD_C_PRIMES,
    published.KDD_RUNS,
    published.KDD_ITERATIONS,
    0,
)
QUICK = Size(20, (1, 2, 10, 20), 2, 20, 3000)


@dataclass(frozen=True)
class Curves:
    """All runs with one C', shape (runs, iterations), and their gaps at the end."""

    looked_at: Array
    F: Array
    L: Array
    phi: Array
    gaps: Array

    @classmethod
    def of(cls, records: Records, size: Size, C_prime: int) -> "Curves":
        """Return the curves; a run that has converged stays where it is."""
        results = [records[setting(size, C_prime, i)] for i in range(size.n_runs)]
        longest = max((of["iterations"] for of in results), key=lambda of: of[-1])
        looked_at = np.array(longest)

        def read(name: str, at: str) -> Array:
            rows = []
            for of in results:
                where = np.arange(len(of["F"])) if at == "all" else of["iterations"]
                last = np.searchsorted(where, looked_at, side="right") - 1
                rows.append(np.array(of[name])[last])
            return np.array(rows)

        return cls(
            looked_at,
            read("F", "all"),
            read("L", "some"),
            read("phi", "some"),
            np.array([of["gap"] for of in results]),
        )


def from_plain_seeds(records: Records, size: Size) -> list[dict[str, Any]]:
    """Return runs of k-means with the other form of k-means++."""
    settings = [setting(size, 1, i, "plain") for i in range(size.n_runs)]
    return [records[of] for of in settings]


def standard_error(runs: Array) -> Array:
    """Return the standard error of the mean over runs."""
    error: Array = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    return error


def mean_text(runs: Array, form: str) -> str:
    """Return the mean over runs, and its standard error."""
    error = float(standard_error(runs))
    # Less than rounding is nothing.
    return f"{runs.mean():{form}} ± {error if error > 1e-12 else 0.0:.2g}"


def setting(size: Size, C_prime: int, seed: int, seeding: str = "greedy") -> Setting:
    """Return one run of that size."""
    return protein.setting(
        C_prime,
        seed,
        seeding=seeding,
        C=size.C,
        n_iterations=size.n_iterations,
        n_rows=size.n_rows,
    )
