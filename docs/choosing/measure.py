"""Measures what docs/choosing.md says: its figures, and the tables between its marks.

`make guide` runs it; with --draw it draws what was measured before. Two real data sets,
features scaled to unit variance: the protein data of the KDD Cup 2004 (145,751 x 74)
and the Wisconsin breast cancer data that comes with scikit-learn (569 x 30).
"""

import json
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, train_test_split

from cprime import GaussianMixture, KMeans
from cprime.datasets import fetch_kdd_protein

HERE = Path(__file__).parent
PAGE = HERE.parent / "choosing.md"
RESULTS = HERE / "results.json"
TYPES = ("isotropic", "spherical", "tied", "diag", "full")
COLOURS = dict(zip(TYPES, ("#9aa0a6", "#3f90da", "#e8a33d", "#2f9e44", "#bd1f01")))
Table = list[dict[str, Any]]


def scaled(X: np.ndarray) -> np.ndarray:
    """Return features of unit variance, without constant ones."""
    deviation = X.std(axis=0)
    varying = deviation > 0
    return (X[:, varying] - X[:, varying].mean(axis=0)) / deviation[varying]


def cancer_models() -> Table:
    """Compare covariance types and numbers of clusters, by BIC and on held-out rows."""
    X, lines = scaled(load_breast_cancer().data), []
    folds = list(KFold(10, shuffle=True, random_state=0).split(X))
    for covariance_type in TYPES:
        for C in (1, 2, 3, 4, 5, 6, 8, 10, 12):
            mixture = GaussianMixture(
                C, covariance_type=covariance_type, n_init=5, random_state=0
            )
            held_out = [mixture.fit(X[a]).score(X[b]) for a, b in folds]
            mixture.fit(X)
            lines.append(
                {
                    "type": covariance_type,
                    "C": C,
                    "parameters": mixture._n_parameters(),
                    "L": mixture.log_likelihood_,
                    "BIC": mixture.bic(X),
                    "held_out": float(np.mean(held_out)),
                }
            )
    return lines


def cancer_c_primes(covariance_type: str, C: int) -> Table:
    """Fit with rows that keep ever more clusters."""
    X = scaled(load_breast_cancer().data)
    kmeans = KMeans(C, n_init=5, random_state=0).fit(X)
    return [
        _fitted(X, X, GaussianMixture.from_kmeans(kmeans, **options))
        for options in (
            {"covariance_type": covariance_type, "c_prime": c, "max_iter": 200}
            for c in range(1, C + 1)
        )
    ]


def protein_models(X: np.ndarray, test: np.ndarray) -> Table:
    """Compare covariance types on rows they have not seen."""
    lines = []
    for C in (25, 50, 100):
        kmeans = KMeans(C, random_state=0).fit(X)
        for covariance_type in TYPES:
            options = {"covariance_type": covariance_type, "c_prime": 5}
            mixture = GaussianMixture.from_kmeans(kmeans, **options, max_iter=60)
            lines.append({"type": covariance_type, **_fitted(X, test, mixture)})
    return lines


def protein_c_primes(X: np.ndarray, test: np.ndarray) -> Table:
    """Fit a diagonal mixture with rows that keep ever more clusters."""
    kmeans = KMeans(100, random_state=0).fit(X)
    options = {"covariance_type": "diag", "max_iter": 60}
    return [
        _fitted(X, test, GaussianMixture.from_kmeans(kmeans, c_prime=c, **options))
        for c in (1, 2, 3, 5, 10, 30, 100)
    ]


def _fitted(X: np.ndarray, test: np.ndarray, mixture: GaussianMixture) -> Any:
    start = time.perf_counter()
    mixture.fit(X)
    seconds = time.perf_counter() - start
    said = f"{mixture.covariance_type}, C={mixture.n_components}, C'={mixture.c_prime}"
    print(f"{said}: {seconds:.1f} s", flush=True)
    return {
        "C": mixture.n_components,
        "C_prime": mixture.c_prime,
        "F": mixture.free_energy_,
        "L": mixture.log_likelihood_,
        "gap": mixture.gap_,
        "held_out": float(mixture.score(test)),
        "BIC": mixture.bic(X),
        "iterations": mixture.n_iter_,
        "seconds": seconds,
        "per_iteration": float(np.median(mixture.trace_["seconds"][1:])),
    }


def draw_models(cancer: Table, protein: Table) -> None:
    """Draw the likelihood of held-out rows over the number of clusters."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for panel, lines, title in (
        (left, cancer, "breast cancer, 569 x 30"),
        (right, protein, "KDD proteins, 145,751 x 74"),
    ):
        for covariance_type in TYPES:
            chosen = [line for line in lines if line["type"] == covariance_type]
            panel.plot(
                [line["C"] for line in chosen],
                [line["held_out"] for line in chosen],
                marker="o",
                markersize=4,
                color=COLOURS[covariance_type],
                label=covariance_type,
            )
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("clusters C")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.set_ylabel("held-out log-likelihood, nats per row")
        panel.spines[["top", "right"]].set_visible(False)
    worst = min(line["held_out"] for line in cancer if line["type"] != "full")
    left.set_ylim(worst - 1.0, None)
    right.legend(frameon=False, fontsize=8)
    figure.savefig(HERE / "models.png", dpi=150)


def draw_c_primes(cancer: Table, protein: Table) -> None:
    """Draw the gap, and what it costs to close it, over C'."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for lines, colour, name in (
        (protein, "#bd1f01", "KDD proteins, diag, C=100"),
        (cancer, "#3f90da", f"breast cancer, full, C={cancer[0]['C']}"),
    ):
        # All clusters kept lose nothing, which has no place on this axis.
        shown = [line for line in lines if line["gap"] > 1e-12]
        left.loglog(
            [line["C_prime"] for line in shown],
            [line["gap"] for line in shown],
            marker="o",
            markersize=4,
            color=colour,
            label=name,
        )
    left.set_ylabel("gap L - F, nats per row")
    left.legend(frameon=False, fontsize=8)
    x = [line["C_prime"] for line in protein]
    right.semilogx(
        x, [line["per_iteration"] for line in protein], "o-", color="#717581"
    )
    right.set_ylim(0, None)
    right.set_ylabel("seconds per iteration, KDD proteins")
    for panel, ticks in ((left, (1, 2, 3, 5, 10)), (right, x)):
        panel.set_xlabel("clusters every row keeps, C'")
        panel.set_xticks(ticks, [str(tick) for tick in ticks])
        panel.minorticks_off()
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "c-prime.png", dpi=150)


def table(lines: Table, columns: dict[str, tuple[str, str]]) -> str:
    """Return a Markdown table of some columns: name -> heading, format."""
    heads = [head for head, _ in columns.values()]
    rows = [[format(line[n], f) for n, (_, f) in columns.items()] for line in lines]
    rules = ["---" if form == "s" else "--:" for _, form in columns.values()]
    return "".join("| " + " | ".join(row) + " |\n" for row in (heads, rules, *rows))


def put(page: str, name: str, text: str) -> str:
    """Return the page with text between the marks of that name."""
    marks = f"(<!-- {name} -->\n).*?(<!-- end -->)"
    found, count = re.subn(marks, lambda m: m[1] + text + m[2], page, flags=re.S)
    assert count == 1, f"{PAGE.name} has no place for {name}"
    return found


def best_of_each(lines: Table) -> Table:
    """Return for every covariance type what BIC and held-out rows choose."""
    chosen = []
    for name in TYPES:
        of_type = [line for line in lines if line["type"] == name]
        by_bic = min(of_type, key=lambda line: line["BIC"])
        best = max(of_type, key=lambda line: line["held_out"])
        found = {"C_held_out": best["C"], "held_out": best["held_out"]}
        chosen.append({**by_bic, **found})
    return chosen


def measured() -> dict[str, Table]:
    """Run everything: about ten minutes on two cores."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    models = cancer_models()
    best = min(models, key=lambda line: line["BIC"])
    X, test = train_test_split(
        scaled(fetch_kdd_protein()), test_size=0.2, random_state=0
    )
    return {
        "cancer models": models,
        "cancer c-primes": cancer_c_primes(best["type"], best["C"]),
        "protein models": protein_models(X, test),
        "protein c-primes": protein_c_primes(X, test),
    }


def main() -> None:
    """Measure, draw, and write the tables into the page."""
    if "--draw" not in sys.argv:
        RESULTS.write_text(json.dumps(measured(), indent=1) + "\n")
    found = json.loads(RESULTS.read_text())
    draw_models(found["cancer models"], found["protein models"])
    draw_c_primes(found["cancer c-primes"], found["protein c-primes"])
    PAGE.write_text(with_tables(PAGE.read_text(), found))


def with_tables(page: str, found: dict[str, Table]) -> str:
    """Return the page with tables of what was found between its marks."""
    of_cancer = {
        "type": ("covariance_type", "s"),
        "C": ("C by BIC", "d"),
        "BIC": ("BIC", ",.0f"),
        "parameters": ("parameters", ",d"),
        "C_held_out": ("C on held-out rows", "d"),
        "held_out": ("held-out L", ".2f"),
    }
    of_protein = {
        "type": ("covariance_type", "s"),
        "BIC": ("BIC", ",.0f"),
        "L": ("L", ".2f"),
        "held_out": ("held-out L", ".2f"),
    }
    of_fit = {
        "C_prime": ("C'", "d"),
        "F": ("F", ".4f"),
        "L": ("L", ".4f"),
        "gap": ("gap", ".1e"),
    }
    held_out = {"held_out": ("held-out L", ".4f")}
    seconds = {"per_iteration": ("s / iteration", ".2f"), "seconds": ("s / fit", ".0f")}
    best = best_of_each(found["cancer models"])
    page = put(page, "cancer models", table(best, of_cancer))
    page = put(page, "cancer c-primes", table(found["cancer c-primes"], of_fit))
    large = [line for line in found["protein models"] if line["C"] == 100]
    page = put(page, "protein models", table(large, of_protein | seconds))
    c_primes = table(found["protein c-primes"], of_fit | held_out | seconds)
    return put(page, "protein c-primes", c_primes)


if __name__ == "__main__":
    main()
