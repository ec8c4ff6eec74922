"""What is there to say about a fit: verdicts first, then warnings?"""

from collections.abc import Sequence

import numpy as np

from cprime.advice import Finding, of_data, of_fits, verdicts
from cprime.advice.number_of_clusters import SomeRows, number_of_clusters
from cprime.advice.wording import plain
from cprime.plots import DistanceDisplay
from cprime.report.cluster_table import shares_of, sizes_of
from cprime.report.clusters import Fitted
from cprime.report.inputs import Scaling
from cprime.report.summary import Summary


def verdicts_on(fitted: Fitted, summary: Summary | None) -> list[Finding]:
    """Return the answers every report opens with.

    Parameters
    ----------
    fitted : Fitted
    summary : Summary, optional
        Without it, only what the fit knows by itself.
    """
    restarts = getattr(fitted.estimator, "restarts_", None)
    energies = None if restarts is None else restarts.get("free_energy")
    n_ambiguous = n_rows = None
    gaps: dict[int, float] = {}
    if summary is not None:
        gaps, n_rows = summary.gaps, summary.n_rows
        n_ambiguous = int(summary.n_ambiguous.sum())
    elif fitted.C_prime == 1 and hasattr(fitted.estimator, "gap_"):
        gaps = {1: float(fitted.estimator.gap_)}
    found = [
        *_number_of_clusters(fitted, summary),
        verdicts.hard_assignment(gaps.get(1), n_ambiguous=n_ambiguous, n_rows=n_rows),
        verdicts.which_c_prime(gaps, fitted.shape[0], fitted.C_prime),
    ]
    # A choice has tried more than restarts would.
    return found if fitted.choice else [*found, verdicts.restarts(energies)]


def _number_of_clusters(fitted: Fitted, summary: Summary | None) -> list[Finding]:
    """Return how many there are, or whether one or fewer would do, if that is known."""
    if fitted.choice is not None:
        headline, _, text = fitted.choice.verdict_.partition(". ")
        level = "good" if len(fitted.choice.plausible_) == 1 else "fair"
        return [Finding(level, f"{headline}.", text)]
    estimator, sizes = fitted.estimator, sizes_of(fitted, summary)
    likelihood = getattr(estimator, "log_likelihood_", None)
    if likelihood is None and summary is not None:
        likelihood = summary.log_likelihood
    if likelihood is None or sizes is None:
        return []
    model, theta = estimator._mixture()
    shares = theta.proportions
    if shares is None:
        shares = shares_of(fitted, summary)
    n_rows, some = int(sizes.sum()), None
    if summary is not None:
        stands_for = np.full(len(summary.sample), n_rows / len(summary.sample))
        some = SomeRows(summary.sample, stands_for, n_rows)
    found = number_of_clusters(model, theta, shares, float(likelihood), n_rows, some)
    return [] if found is None else [found]


def warnings_about(
    fitted: Fitted,
    summary: Summary | None,
    names: Sequence[str],
    scaling: Scaling,
) -> list[Finding]:
    """Return what a user should be warned of, the worst first.

    Parameters
    ----------
    fitted : Fitted
    summary : Summary, optional
    names : sequence of str
        Of the columns.
    scaling : Scaling
    """
    found = _of_fit(fitted)
    if summary is not None:
        shown = [plain(name) for name in names]
        found += _of_rows(fitted, summary, shown, scaling)
    worst_first = {"poor": 0, "fair": 1}
    warnings = [finding for finding in found if finding is not None]
    return sorted(warnings, key=lambda finding: worst_first[finding.level])


def _of_fit(fitted: Fitted) -> list[Finding | None]:
    estimator, overlap = fitted.estimator, fitted.overlap()
    trace = getattr(estimator, "trace_", {})
    floored = trace["floored"][-1] if len(trace.get("floored", ())) else 0
    close = [
        (int(c), int(fitted.nearest[c]))
        for c in np.argsort(-overlap, kind="stable")
        if overlap[c] > of_fits.COINCIDENT
    ]
    # Each pair once, the closest first.
    pairs = list(dict.fromkeys((min(pair), max(pair)) for pair in close))
    return [
        of_fits.unconverged(
            getattr(estimator, "converged_", None),
            int(getattr(estimator, "n_iter_", 0)),
            int(estimator.max_iter),
        ),
        of_fits.relocated(int(getattr(estimator, "n_relocations_", 0))),
        of_fits.collapsed(int(floored), fitted.shape[0]),
        of_fits.coincident_clusters(pairs, float(overlap.max())),
    ]


def _of_rows(
    fitted: Fitted,
    summary: Summary,
    names: Sequence[str],
    scaling: Scaling,
) -> list[Finding | None]:
    estimator = fitted.estimator
    columns, sizes = summary.columns, summary.sizes.tolist()
    n_rows, D = summary.n_rows, fitted.shape[1]
    seen = columns.spreads / scaling.scale
    distances = DistanceDisplay.from_tally(summary.distances, D)
    found = [
        of_data.other_rows(
            summary.log_likelihood,
            getattr(estimator, "log_likelihood_", None),
            getattr(estimator, "gap_standard_error_", 0.0),
        ),
        of_fits.empty_clusters(sizes),
        of_fits.tiny_clusters(sizes, fitted.rows_needed),
        of_fits.dominating_cluster(sizes),
        of_fits.few_rows(n_rows, int(estimator._n_free)),
        of_data.unequal_scales(names, seen.tolist(), fitted.are_round),
        of_data.constant_columns(names, columns.spreads.tolist()),
        of_data.extreme_values(
            names, columns.deviations.tolist(), columns.farthest_rows.tolist()
        ),
        of_data.outliers(distances.n_beyond, n_rows),
        of_data.missing_values(int(columns.n_missing.sum()), n_rows * D),
    ]
    if fitted.are_alike:
        spread = float(np.nanmean(seen * seen))
        found.append(of_fits.points(float(fitted.clusters.covariance), spread))
    return found
