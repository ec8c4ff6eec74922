"""How does compiled code read rows?"""

from typing import Any

import numpy as np

from cprime.kernels import _native
from cprime.typing import Array


def rows_of(X: Any, scale: float = 1.0) -> Any:
    """Return rows as compiled code reads them: in place, if it can."""
    if hasattr(X, "indptr"):
        values = readable(X.data)
        return _native.sparse(values, X.indices, X.indptr, X.shape[1], scale)
    return _native.dense(readable(X), scale)


def readable(values: Array) -> Array:
    """Return values as compiled code reads them: in place, if it can."""
    in_steps = all(stride % values.itemsize == 0 for stride in values.strides)
    if values.dtype in (np.float32, np.float64) and values.flags.aligned and in_steps:
        return values
    exact = np.float32 if values.dtype == np.dtype(">f4") else np.float64
    return values.astype(exact, order="C")
