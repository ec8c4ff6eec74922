"""How does a fitted estimator tell a user about itself?"""

import os
from pathlib import Path
from typing import Any


class ReportMixin:
    """Gives estimators a page that explains their fit."""

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
