"""What a fit of a tensor on a GPU gives back: tensors beside it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cprime.blocks import Elsewhere
from cprime.fitting.results import Attributes

# As scikit-learn has them where it follows the array API.
PARAMETERS = ("cluster_centers_", "weights_", "means_", "covariances_")
BESIDE = ("labels_", *PARAMETERS, "precisions_", "precisions_cholesky_")


def beside(
    X: Elsewhere, put: Callable[[Attributes], None]
) -> Callable[[Attributes], None]:
    """Return what sets the attributes of a fit, labels and parameters beside X."""

    def put_beside(attributes: Attributes) -> None:
        arrays = {
            name: X.beside(attributes[name])
            for name in BESIDE
            if isinstance(attributes.get(name), np.ndarray)
        }
        put({**attributes, **arrays})

    return put_beside


def refuse_checkpoint(checkpoint: Any) -> None:
    """Raise if a fit of rows on a GPU is to be kept while it runs."""
    if checkpoint is not None:
        raise ValueError(
            "checkpoint keeps fits of rows in the memory of the host, and X is on a "
            "GPU: leave it out, or give a copy there, X.cpu().numpy()."
        )
