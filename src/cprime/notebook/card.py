"""What does a notebook show of a fitted estimator: a verdict, and a small picture?"""

from html import escape
from typing import Any

import numpy as np

from cprime.advice import Finding, of_choice, verdicts
from cprime.advice.wording import count
from cprime.kernels.tensors import from_gpu
from cprime.notebook.centre_map import centre_map
from cprime.selection.one_cluster import against_one
from cprime.typing import Array

MARKS = {"good": "#1a6b34", "fair": "#855300", "poor": "#b3261e", "unknown": "#57606a"}
SIGNS = {"good": "✓", "fair": "i", "poor": "!", "unknown": "?"}


def card_of(estimator: Any) -> str:
    """Return HTML that says what a fit found; nothing if there was none.

    Parameters
    ----------
    estimator : estimator
        Of cprime, fitted or not.
    """
    choice = None
    if hasattr(estimator, "best_estimator_"):
        choice, estimator = estimator, estimator.best_estimator_
    centers = getattr(estimator, "means_", getattr(estimator, "cluster_centers_", None))
    if centers is None:
        return ""
    centers = np.asarray(from_gpu(centers), dtype=np.float64)
    shares = shares_of(estimator, len(centers))
    found = _findings(estimator, choice, shares)
    title = escape(_title(estimator, len(centers)))
    lines = "".join(_line(finding) for finding in found if finding is not None)
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:center;'
        'font-family:sans-serif;margin:4px 0 10px">'
        f'<div style="flex:1 1 22em;max-width:46em"><b>{title}</b>'
        f"{lines}</div>{centre_map(centers, shares)}</div>"
    )


def shares_of(estimator: Any, C: int) -> Array:
    """Return the share of the rows of every cluster; equal ones if nobody knows."""
    weights = from_gpu(getattr(estimator, "weights_", None))
    labels = getattr(estimator, "labels_", None)
    if weights is None and labels is not None:
        weights = np.bincount(np.asarray(from_gpu(labels)), minlength=C)
    if weights is None or not np.sum(weights) > 0:
        return np.full(C, 1.0 / C)
    shares: Array = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    return shares


def _title(estimator: Any, C: int) -> str:
    labels = getattr(estimator, "labels_", None)
    rows = "" if labels is None else f" in {count(len(labels), 'row')}"
    return f"{type(estimator).__name__}: {count(C, 'cluster')}{rows}"


def _findings(estimator: Any, choice: Any, shares: Array) -> list[Finding | None]:
    """Return the verdicts that need no rows, that on the number of clusters first."""
    gap = getattr(estimator, "gap_", None)
    of_gap = None
    if gap is not None:
        of_gap = verdicts.of_gap(float(gap), int(estimator._C_prime), len(shares))
    if choice is not None:
        headline, _, text = choice.verdict_.partition(". ")
        level = "good" if len(choice.plausible_) == 1 else "fair"
        return [Finding(level, f"{headline}.", text), of_gap]
    restarts = getattr(estimator, "restarts_", None)
    energies = None if restarts is None else restarts.get("free_energy")
    of_restarts = None if energies is None else verdicts.restarts(energies)
    return [_number(estimator, shares), of_gap, of_restarts]


def _number(estimator: Any, shares: Array) -> Finding | None:
    likelihood = getattr(estimator, "log_likelihood_", None)
    labels = getattr(estimator, "labels_", None)
    if likelihood is None or labels is None:
        return None
    model, theta = estimator._mixture()
    found = against_one(model, theta, shares, float(likelihood), float(len(labels)))
    return None if found is None else of_choice.against_one(len(shares), *found)


def _line(finding: Finding) -> str:
    colour = MARKS[finding.level]
    return (
        f'<div style="margin:4px 0"><b style="color:{colour}">'
        f"{SIGNS[finding.level]} {escape(finding.headline)}</b> "
        f"{escape(finding.text)}</div>"
    )
