"""How does a fitted estimator tell a user about itself?"""

import os
from pathlib import Path
from typing import Any


class NotebookMixin:
    """Shows a verdict and a small picture where a notebook shows a fitted estimator."""

    def _repr_html_inner(self) -> str:
        return _card(self) + super()._repr_html_inner()  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = _card(self) + bundle["text/html"]
        return bundle


def _card(estimator: Any) -> str:
    # Words and pictures are imported by those who want them.
    from cprime.notebook import card_of

    return card_of(estimator)


class ReportMixin(NotebookMixin):
    """Gives estimators a page that explains their fit, and their results as tables."""

    def report(self, path: str | os.PathLike[str], X: Any = None) -> Path:
        """Write a page that says what this fit found, and how far to trust it.

        One HTML file that needs no network and runs no scripts. It opens with a verdict
        in plain words: are there clusters, are hard labels enough, how many nats are
        lost, which C' to use, did restarts agree. Then warnings, the data, clusters
        with typical and border rows, maps, outliers, and how to make the same fit
        again.

        Parameters
        ----------
        path : str or path
            Where to write it; a file that is there is replaced.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), optional
            Rows, usually those of the fit. Without them the page holds what the model
            alone can tell.

        Returns
        -------
        path : Path
        """
        # Pictures and pages are imported by those who want them.
        from cprime import report

        return report.write(path, self, X)

    def predict_frame(self, X: Any) -> Any:
        """Return a pandas DataFrame with the label and scores of every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Data

        Returns
        -------
        frame : DataFrame
            `label` and `probability` of the most likely cluster, `runner_up` (the
            cluster that comes second, -1 if there is only one), and for estimators with
            a density `log_density` and `outlier_score`, the share of the own cluster's
            rows that would lie closer to its centre. The index is that of X, if X is a
            DataFrame.
        """
        from cprime.estimators.frames import predict_frame

        return predict_frame(self, X)

    def cluster_frame(self) -> Any:
        """Return a pandas DataFrame that describes every cluster.

        Returns
        -------
        frame : DataFrame
            One row per cluster: its `size` (rows, where the fit knows its labels), its
            `share` of all rows, its `name` (what sets it apart, in words), and its
            mean in every feature.
        """
        from cprime.estimators.frames import cluster_frame

        return cluster_frame(self)
