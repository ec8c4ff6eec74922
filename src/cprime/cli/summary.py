"""What did a fit come to? In values for programs, and in words for users."""

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from cprime.advice import wording
from cprime.cli.console import Voice, literal
from cprime.cli.option_names import use_option_names

NAMES = {
    "KMeans": "k-means",
    "SoftKMeans": "soft k-means",
    "FuzzyKMeans": "fuzzy k-means",
    "GaussianMixture": "Gaussian mixture",
}
# What a fit is worth, by the names of attributes.
MEASURES = (
    "free_energy",
    "log_likelihood",
    "gap",
    "gap_standard_error",
    "inertia",
    "objective",
)
LEVELS = {"good": "green", "fair": "yellow", "poor": "red", "unknown": "dim"}


def fit_values(estimator: Any) -> dict[str, Any]:
    """Return what a fitted estimator knows of itself, as plain values.

    An interrupted fit does not know all of it: what is not known is None.
    """
    C = len(centers_of(estimator))
    known = {
        "model": type(estimator).__name__,
        "clusters": C,
        "c_prime": int(estimator._C_prime),
        "features": int(estimator.n_features_in_),
        "iterations": int(estimator.n_iter_),
        "converged": bool(estimator.converged_),
        "seeding": getattr(estimator, "seeding_", None),
        "evaluations": int(estimator.evaluations_),
    }
    for name in MEASURES:
        value = getattr(estimator, f"{name}_", None)
        known[name] = None if value is None else float(value)
    if known["model"] == "GaussianMixture":
        known["covariance"] = estimator.covariance_type
    return known


def centers_of(estimator: Any) -> Any:
    """Return the clusters' means, whatever this estimator calls them."""
    if hasattr(estimator, "means_"):
        return estimator.means_
    return estimator.cluster_centers_


def verdict(values: dict[str, Any]) -> Any:
    """Return what the gap means, as a `Finding`; None if there is no gap."""
    from cprime.advice import verdicts

    if values.get("gap") is None:
        return None
    return verdicts.of_gap(values["gap"], values["c_prime"], values["clusters"])


def judge_number(estimator: Any, data: Any, weights: Any = None) -> Any:
    """Return whether one cluster, or fewer, would do, as a `Finding`.

    None if that is not known, as of weights that are not in memory.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    data : Data
        Its rows.
    weights : ndarray of shape (n_rows,), optional
        How often each row counts.
    """
    import numpy as np

    from cprime.advice.number_of_clusters import SomeRows, number_of_clusters
    from cprime.selection.fewer_clusters import MOST_ROWS

    likelihood = getattr(estimator, "log_likelihood_", None)
    if likelihood is None or not isinstance(weights, np.ndarray | None):
        return None
    model, theta = estimator._mixture()
    shares, C = theta.proportions, len(theta.means)
    if shares is None:
        # Where labels are on a cluster, they are counted there.
        counts = np.bincount(estimator.labels_, weights=weights, minlength=C)
        sizes = np.asarray(counts)
        shares = sizes / sizes.sum()
    total = data.n_rows if weights is None else float(weights.sum())
    numbers = np.linspace(0, data.n_rows - 1, min(2 * MOST_ROWS, data.n_rows))
    numbers = numbers.astype(np.int64)
    stands_for = np.ones(len(numbers)) if weights is None else weights[numbers]
    stands_for = stands_for * (total / stands_for.sum())
    some = SomeRows(data.take(numbers).astype(np.float64), stands_for, data.n_rows)
    return number_of_clusters(model, theta, shares, likelihood, total, some)


def sentences(found: Any) -> str:
    """Return a `Finding` as plain text, in the words of the command line."""
    return use_option_names(f"{found.headline} {found.text}").rstrip()


def finding_line(found: Any) -> str:
    """Return a `Finding` as a line, in the words of the command line."""
    headline, text = (
        literal(use_option_names(t)) for t in (found.headline, found.text)
    )
    return f"[{LEVELS[found.level]}]{headline}[/] {text}".rstrip()


def describe_shape(data: Any) -> str:
    """Return "flows.parquet: 1,000 rows x 3 columns, standardized"."""
    rows = wording.count(data.n_rows, "row")
    columns = wording.count(data.n_features, "column")
    scaled = "" if data.scale is None else ", standardized"
    return f"{data.origin}: {rows} x {columns}{scaled}"


def describe_model(values: dict[str, Any]) -> str:
    """Return "k-means, 200 clusters, C' = 3"."""
    C, C_prime = values["clusters"], values["c_prime"]
    kept = "all" if C_prime == C else str(C_prime)
    name = NAMES.get(values["model"], values["model"])
    if values.get("covariance"):
        name += f" ({values['covariance']} covariances)"
    return f"{name}, {wording.count(C, 'cluster')}, C' = {kept}"


def describe_end(values: dict[str, Any], complete: bool = True) -> str:
    """Return "converged after 23 iterations"."""
    iterations = wording.count(values["iterations"], "iteration")
    if not complete:
        return f"interrupted after {iterations}"
    if values["converged"]:
        return f"converged after {iterations}"
    return f"not converged: stopped after {iterations} (--max-iter)"


def quality_lines(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Return L, F and the gap, or J, with names and units."""
    lines = []
    for sign, name, meaning in (
        ("L", "log_likelihood", "log-likelihood"),
        ("F", "free_energy", "lower bound on L"),
    ):
        if values.get(name) is not None:
            value = wording.comparable(values[name])
            lines.append((sign, f"{value} nats per row ({meaning})"))
    if values.get("gap") is not None:
        found = verdict(values)
        gap = wording.gap(values["gap"], values.get("gap_standard_error") or 0.0)
        text = f"[{LEVELS[found.level]}]{escape(found.headline)}[/]"
        lines.append(("gap", f"{gap} nats per row. {text}"))
    if values.get("objective") is not None:
        lines.append(("J", f"{wording.comparable(values['objective'])}"))
    return lines


def show(voice: Voice, title: str, lines: list[tuple[str, str]]) -> None:
    """Show a title, and below it names beside their values."""
    voice.say(f"[bold]{literal(title)}[/]")
    width = max(len(name) for name, _ in lines)
    if not voice.out.is_terminal:
        for name, text in lines:
            voice.say(f"  {name:{width}}  {text}")
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, text in lines:
        table.add_row(f"  {name}", text)
    voice.say(table)


def describe_file(path: Path) -> str:
    """Return a file's name and size."""
    return literal(f"{path} ({wording.size(path.stat().st_size)})")
