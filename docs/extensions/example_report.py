"""A report to look at: the one of the guide, as a page of the site."""

from pathlib import Path
from typing import Any

from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from cprime import KMeans


def setup(app: Any) -> dict[str, bool]:
    """Ask to be called when all other pages are there."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Any, error: Exception | None) -> None:
    """Write the report on the fit in guide/report.md beside it."""
    if error is None and app.builder.name == "html":
        scaler = StandardScaler().set_output(transform="pandas")
        X = scaler.fit_transform(load_wine(as_frame=True).data)
        kmeans = KMeans(3, n_init=10, random_state=0).fit(X)
        kmeans.report(Path(app.outdir) / "guide" / "wine.html", X)
