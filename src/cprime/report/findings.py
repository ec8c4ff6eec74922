"""What is there to tell about a fit: verdicts first, then warnings?"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cprime.advice import Finding, of_data, of_fits, verdicts
from cprime.advice.words import plain
from cprime.report.clusters import Clusters
from cprime.report.rows import Scaling
from cprime.report.summary import RARE, Summary


def verdicts_on(
    estimator: Any, clusters: Clusters, summary: Summary | None
) -> list[Finding]:
    """Return the three answers every report opens with.

    Parameters
    ----------
    estimator : fitted estimator
    clusters : Clusters
    summary : Summary, optional
        Without it, only what the fit knows by itself.
    """
    C, fitted = clusters.shape[0], int(estimator._C_prime)
    restarts = getattr(estimator, "restarts_", None)
    energies = None if restarts is None else restarts.get("free_energy")
    n_torn = n_rows = None
    gaps: dict[int, float] = {}
    if summary is not None:
        gaps, n_rows = summary.gaps, summary.n_rows
        n_torn = int(summary.n_torn.sum())
    elif fitted == 1 and hasattr(estimator, "gap_"):
        gaps = {1: float(estimator.gap_)}
    return [
        verdicts.hard_assignment(gaps.get(1), n_torn=n_torn, n_rows=n_rows),
        verdicts.which_c_prime(gaps, C, fitted),
        verdicts.restarts(energies),
    ]


def warnings_about(
    estimator: Any,
    clusters: Clusters,
    summary: Summary | None,
    names: Sequence[str],
    scaling: Scaling,
) -> list[Finding]:
    """Return what a person should be warned of, the worst first.

    Parameters
    ----------
    estimator : fitted estimator
    clusters : Clusters
    summary : Summary, optional
    names : sequence of str
        Of the columns.
    scaling : Scaling
    """
    found = _of_fit(estimator, clusters)
    if summary is not None:
        shown = [plain(name) for name in names]
        found += _of_rows(estimator, clusters, summary, shown, scaling)
    worst_first = {"poor": 0, "fair": 1}
    warnings = [finding for finding in found if finding is not None]
    return sorted(warnings, key=lambda finding: worst_first[finding.level])


def _of_fit(estimator: Any, clusters: Clusters) -> list[Finding | None]:
    trace = getattr(estimator, "trace_", {})
    floored = trace["floored"][-1] if len(trace.get("floored", ())) else 0
    nearest, away = clusters.nearest()
    close = [c for c in np.argsort(away, kind="stable") if away[c] < of_fits.COINCIDENT]
    pairs = {tuple(sorted((int(c), int(nearest[c])))): None for c in close}
    return [
        of_fits.unconverged(
            getattr(estimator, "converged_", None),
            int(getattr(estimator, "n_iter_", 0)),
            int(estimator.max_iter),
        ),
        of_fits.relocated(int(getattr(estimator, "n_relocations_", 0))),
        of_fits.collapsed(int(floored), clusters.shape[0]),
        of_fits.coincident_centers(list(pairs), float(away.min())),
    ]


def _of_rows(
    estimator: Any,
    clusters: Clusters,
    summary: Summary,
    names: Sequence[str],
    scaling: Scaling,
) -> list[Finding | None]:
    columns, sizes = summary.columns, summary.sizes.tolist()
    n_rows, D = summary.n_rows, clusters.shape[1]
    seen = columns.spreads / scaling.scale
    found = [
        of_data.other_rows(
            summary.log_likelihood, getattr(estimator, "log_likelihood_", None)
        ),
        of_fits.empty_clusters(sizes),
        of_fits.tiny_clusters(sizes, clusters.rows_needed),
        of_fits.dominating_cluster(sizes),
        of_fits.few_rows(n_rows, clusters.n_parameters),
        of_data.unequal_scales(names, seen.tolist(), clusters.are_round),
        of_data.constant_columns(names, columns.spreads.tolist()),
        of_data.extreme_values(
            names, columns.deviations.tolist(), columns.farthest_rows.tolist()
        ),
        of_data.outliers(summary.n_beyond, n_rows, RARE),
        of_data.missing_values(int(columns.n_missing.sum()), n_rows * D),
    ]
    if clusters.are_alike:
        spread = float(np.nanmean(seen * seen))
        found.append(of_fits.points(float(clusters.theta.covariance), spread))
    return found
