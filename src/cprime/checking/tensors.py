"""Is a tensor on a GPU a table of numbers? It is looked at where it is."""

from typing import Any

from sklearn.utils.validation import validate_data

from cprime.blocks import Elsewhere
from cprime.kernels.tensors import rows_on_gpu

ONLY_HERE = (
    "X is a tensor on {device}. It can stay there for fit and predictions of KMeans, "
    "SoftKMeans and GaussianMixture with isotropic, spherical or diag covariances and "
    "missing='error'; for anything else give a copy in the memory of the host, "
    "X.cpu().numpy()."
)


def checked(estimator: Any, X: Any, *, reset: bool, stays: bool) -> Elsewhere:
    """Return the rows of a tensor, or say what is wrong with them.

    Whether they are finite is not asked yet. float32 stays float32, anything else
    becomes float64.

    Parameters
    ----------
    estimator, reset
        As for `inputs.checked_data`.
    X : tensor on a GPU
    stays : bool
        Whether what is asked of it can be computed there.
    """
    if not stays:
        raise TypeError(ONLY_HERE.format(device=X.device))
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead: X has shape "
            f"{tuple(X.shape)}. Reshape your data to one row per sample, for example "
            "X.reshape(-1, 1) if it has a single feature."
        )
    for count, what in zip(X.shape, ("sample(s)", "feature(s)")):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what} (shape={tuple(X.shape)}) while a minimum "
                f"of 1 is required by {type(estimator).__name__}."
            )
    found = rows_on_gpu(X)
    validate_data(estimator, found, reset=reset, skip_check_array=True)
    return found
