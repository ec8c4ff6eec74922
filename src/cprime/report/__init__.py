"""One page that tells a user what a fit found, and how far to trust it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cprime import extras

extras.require("report", "A report")

from cprime.report.cluster_table import cluster_table
from cprime.report.clusters import Fitted
from cprime.report.inputs import Scaling, as_data, column_names, scaling_of
from cprime.report.outliers import outlier_lines
from cprime.report.page import page_of, render
from cprime.report.summary import summarise
from cprime.storage.atomic import replacing

__all__ = ["write"]

# A page of more bytes shows rows of fewer clusters.
LARGEST = 1_900_000


def write(
    path: str | os.PathLike[str],
    estimator: Any,
    data: Any = None,
    *,
    scaling: tuple[Any, Any] | None = None,
    about: Mapping[str, Any] | None = None,
) -> Path:
    """Write a report on a fitted estimator: one HTML file, below 2 MB.

    It opens with a verdict in plain words: are there clusters, are hard labels enough,
    what is lost, which C' to use, did restarts agree. It needs no network, runs no
    scripts and can be printed. The same fit and rows give the same file.

    Parameters
    ----------
    path : path
        Where to write it. What is there is replaced, as a whole.
    estimator : fitted KMeans, SoftKMeans, GaussianMixture or AutoMixture
        Or a pipeline of a StandardScaler and one of these.
    data : Data, path, array, frame or sparse matrix, optional
        Rows, usually those of the fit; read twice, block by block. Without them the
        report says what the model alone can tell.
    scaling : (shift, scale), optional
        If the estimator was fitted to (rows - shift) / scale, column by column; the
        report is in the units of the rows. Data that were scaled by `Data.scaled` say
        so themselves.
    about : mapping, optional
        What else should be known of the fit, as it is to be shown: "command", "origin"
        (a name for the data), "fingerprint", "date", "seconds", ...

    Returns
    -------
    path : Path
    """
    estimator, scaling = _last_step(estimator, scaling)
    fitted = Fitted.of(estimator)
    rows = None if data is None else as_data(data)
    names = column_names(estimator, rows, fitted.shape[1])
    units = scaling_of(rows, scaling, fitted.shape[1])
    # What cannot be written is found out before all rows are read.
    with replacing(path, "the report") as file:
        file.write(_content(fitted, rows, names, units, dict(about or {})))
    return Path(path)


def _content(
    fitted: Fitted, rows: Any, names: Sequence[str], units: Scaling, about: Any
) -> bytes:
    summary, outliers = None, []
    if rows is not None:
        summary = summarise(fitted, rows, units)
        outliers = outlier_lines(fitted, summary, rows, names, units)
    table = cluster_table(fitted, summary, rows, names, units)
    page = page_of(fitted, summary, rows, names, units, about, table, outliers)
    content = render(page).encode()
    while len(content) > LARGEST and page.table.n_detailed:
        page = replace(page, table=page.table.shorten())
        content = render(page).encode()
    return content


def _last_step(estimator: Any, scaling: Any) -> tuple[Any, Any]:
    """Return the estimator of a pipeline, and how rows are scaled before it."""
    steps = getattr(estimator, "steps", None)
    if steps is None:
        return estimator, scaling
    scaler = steps[0][1]
    if (
        len(steps) != 2
        or getattr(scaler, "mean_", None) is None
        or scaler.scale_ is None
    ):
        raise TypeError(
            "A report on a pipeline needs exactly a fitted StandardScaler and an "
            "estimator of cprime: give the last step, and rows as it has seen them."
        )
    return steps[1][1], (scaler.mean_, scaler.scale_)
