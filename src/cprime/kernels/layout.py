"""How does compiled code read rows, the clusters they have, and those they look at?"""

from typing import Any

import numpy as np

from cprime.blocks import Kept
from cprime.kernels import _native
from cprime.search import Near, Plan
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


def clusters_before(kept: Kept | None, width: int, plan: Plan) -> Array | None:
    """Return the clusters of before, unless they are fewer than are kept from now on.

    Of few a search can still begin that looks at those near the best of them, and the
    only one of a row can be what it is reluctant to leave.
    """
    if kept is None:
        return None
    K = kept.K
    if plan.near is None and K.shape[1] != width:
        if plan.reluctance == 1.0 or K.shape[1] != 1:
            return None
        K = K.repeat(width, axis=1)
    return np.ascontiguousarray(K, dtype=np.int32)
