"""What did a fit find, as tables of pandas?"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from cprime.advice.cluster_names import cluster_name
from cprime.advice.wording import name_columns
from cprime.checking import inputs
from cprime.estimators.predictions import predictions
from cprime.extras import MissingExtraError
from cprime.kernels.tensors import from_gpu
from cprime.notebook.card import shares_of
from cprime.sources import open_data
from cprime.theta import Theta
from cprime.typing import Array


def predict_frame(estimator: Any, X: Any) -> Any:
    """Return label, probability, runner-up, density and outlier score of every row."""
    pandas = _pandas()
    estimator._clusters()
    rows = inputs.checked_data(
        estimator, X, reset=False, missing=estimator._marginalizes
    )
    data = open_data(rows.toarray() if sp.issparse(rows) else rows)
    parts: dict[str, list[Array]] = {}
    for _, found in predictions(estimator, data):
        for name, values in vars(found).items():
            if values is not None:
                parts.setdefault(name, []).append(values)
    columns = {name: np.concatenate(values) for name, values in parts.items()}
    is_frame = isinstance(X, pandas.DataFrame)
    return pandas.DataFrame(columns, index=X.index if is_frame else None)


def cluster_frame(estimator: Any) -> Any:
    """Return size, share, name and mean of every cluster."""
    pandas = _pandas()
    _, theta = estimator._clusters()
    C, D = theta.means.shape
    columns: dict[str, Any] = {}
    labels = getattr(estimator, "labels_", None)
    if labels is not None:
        columns["size"] = np.bincount(np.asarray(from_gpu(labels)), minlength=C)
    columns["share"] = shares = shares_of(estimator, C)
    features = name_columns(getattr(estimator, "feature_names_in_", None), D)
    deviations = _deviations(theta, shares)
    columns["name"] = [
        cluster_name(features, deviations[c].tolist(), theta.means[c].tolist())
        for c in range(C)
    ]
    found = pandas.DataFrame(columns)
    means = pandas.DataFrame(theta.means, columns=features)
    found = pandas.concat([found, means], axis=1)
    return found.rename_axis("cluster")


def _deviations(theta: Theta, shares: Array) -> Array:
    """Return how far means are from that of all rows, in the mixture's own spread."""
    steps = theta.means - shares @ theta.means
    within = np.asarray(theta.covariance, dtype=np.float64)
    if within.ndim == 3:
        within = np.diagonal(within, axis1=1, axis2=2)
    elif within.ndim == 1:
        within = within[:, None]
    spread = np.sqrt(shares @ (np.broadcast_to(within, steps.shape) + steps * steps))
    found: Array = steps / np.where(spread > 0, spread, 1.0)
    return found


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "A frame needs pandas, not installed: pip install pandas",
            name="pandas",
        ) from error
    return pandas
