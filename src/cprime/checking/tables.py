"""Is this a table of numbers?"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from cprime.kernels.tensors import from_gpu
from cprime.sources.display import LONGEST_REASON, short
from cprime.sources.sparse import sound
from cprime.typing import Array

REAL = "fiub"


def refuse_other_than_numbers(X: Any) -> None:
    """Raise if an array or frame holds text, dates or anything else but numbers."""
    if hasattr(X, "columns"):
        for position, name in enumerate(X.columns):
            column = X[name]
            if _kind(column) not in REAL:
                _refuse(column, "X", f", column {position} ({name!r})")
    elif np.ma.isMaskedArray(X) or _kind(X) not in REAL:
        _refuse(X, "X")


def in_host_memory(X: Any) -> Any:
    """Return a tensor of another library as a numpy array, or say why it cannot be.

    Anything else comes back as it is.
    """
    if isinstance(X, np.ndarray) or not hasattr(X, "__dlpack__"):
        return X
    try:
        return np.asarray(X)
    except Exception as error:
        library = type(X).__module__.partition(".")[0]
        device = getattr(X, "device", None)
        place = "" if device is None else f" on {device}"
        raise TypeError(
            f"X is a {library} {type(X).__name__}{place}, which numpy cannot read "
            f"({short(str(error), LONGEST_REASON)}): give a copy in host memory, for "
            "example X.detach().cpu().numpy()."
        ) from error


def dense(values: Any, name: str) -> Any:
    """Return a sparse matrix, or a tensor, as an array, and anything else as it is."""
    return sound(values, name).toarray() if sp.issparse(values) else from_gpu(values)


def numbers(values: Any, name: str) -> Array:
    """Return array-like values as float64, or say what of them is not a number."""
    values = from_gpu(values)
    if sp.issparse(values):
        raise TypeError(f"{name} is sparse: give a dense array.")
    _refuse(values, name)
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(np.float64)


def _refuse(values: Any, name: str, column: str = "") -> None:
    """Raise if the values are masked, text, dates or anything else but numbers."""
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        index = np.argwhere(np.ma.getmaskarray(values))[0]
        raise ValueError(
            f"{name} is a masked array with masked values, the first at "
            f"{_place(index, column)}. Masks would be ignored: drop those rows or fill "
            "the values first."
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is not a table of numbers: {error}") from error
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is {array.dtype}.")
    if array.dtype.kind in "mM":
        raise TypeError(
            f"{name}{column} holds dates or durations ({array.dtype}), not numbers: "
            "subtract a date and divide by a duration first."
        )
    if array.dtype.kind in "UST":
        # A list with one text in it came out as all text: find that one.
        array = np.asarray(values, dtype=object)
    if array.dtype.kind == "V" or (array.dtype.kind == "O" and array.ndim == 0):
        raise TypeError(f"{name} must be a table of numbers, not {values!r:.80}.")
    if array.dtype.kind == "O":
        for index, value in np.ndenumerate(array):
            if value is not None:  # None becomes NaN, and is reported as that
                _refuse_cell(value, name, index, column)


def _refuse_cell(value: Any, name: str, index: Any, column: str) -> None:
    if isinstance(value, str | bytes):
        raise ValueError(
            f"{name} holds the text {value!r} at {_place(index, column)}: convert it "
            "to a number, or encode the categories."
        )
    try:
        float(value)
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        place = _place(index, column)
        raise kind(f"{name} holds {value!r} at {place}: {error}") from error


def _kind(values: Any) -> str:
    """Return numpy's letter for the kind of values, asking as few of them as it can."""
    if not hasattr(values, "dtype"):
        return "O"
    dtype = values.dtype
    return str(
        dtype.kind if hasattr(dtype, "kind") else np.asarray(values[:1]).dtype.kind
    )


def _place(index: Any, column: str = "") -> str:
    axes = zip(("row", "column", "layer"), index)
    return ", ".join(f"{axis} {i}" for axis, i in axes) + column
