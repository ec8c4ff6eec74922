"""How does compiled code read rows, and what says which clusters they look at?"""

from typing import Any

import numpy as np

from cprime.kernels import _native
from cprime.search import Near
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


def near_for_compiled_code(near: Near, first: int) -> Any:
    """Return which clusters rows `first` and following look at."""
    lists = np.ascontiguousarray(near.lists, dtype=np.int32)
    numbers = {"n_explore": near.n_explore, "key": near.key, "first": first}
    return _native.Near(lists=lists, **numbers)
