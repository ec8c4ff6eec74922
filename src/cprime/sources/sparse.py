"""Is a sparse matrix what it says it is?

scipy looks at a matrix when it is made, and not at all of it. Compiled code, ours and
scipy's, believes the arrays inside: an index too large is an access beyond the end of
memory. So whatever it believes is checked here, once, in time O(nnz).
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Number
from typing import Any, NoReturn

import numpy as np

from cprime.typing import Array

# What compiled code counts rows and columns in.
NARROW, WIDE = np.dtype(np.int32), np.dtype(np.int64)


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse matrix or array, in the manner of scipy."""
    return hasattr(X, "tocsr") and isinstance(getattr(X, "format", None), str)


def compressed_rows(X: Any, name: str = "X") -> Any:
    """Return a sparse matrix of any format as CSR that is sound and canonical."""
    return canonical(sound(X, name).tocsr())


def sound(X: Any, name: str = "X") -> Any:
    """Return a sparse matrix that compiled code may believe, or say what is wrong.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_rows, n_columns), of any format of scipy
        It is not changed.
    name : str, default="X"
        What the user calls it.

    Returns
    -------
    X : sparse matrix or array of the same format
        X itself, unless its arrays have to be copied to be read by compiled code, or
        hold more than belongs to it.
    """
    if len(X.shape) != 2:
        raise ValueError(f"{name} has shape {X.shape}: rows and columns are needed.")
    check = CHECKS.get(X.format)
    return X if check is None else check(_Suspect(X, name))


def canonical(X: Any) -> Any:
    """Return sound CSR in which the columns of every row rise.

    X itself, or a copy in which entries are sorted and those of the same place added.
    The arrays are asked, not scipy, whose `has_canonical_format` may be out of date.
    """
    rises = X.indices[1:] > X.indices[:-1]
    starts = X.indptr[1:-1]
    rises[starts[(starts > 0) & (starts < len(X.indices))] - 1] = True
    if rises.all():
        return X
    arrays = (X.data.copy(), X.indices.copy(), X.indptr.copy())
    found = type(X)(arrays, shape=X.shape)
    found.sum_duplicates()
    return found


@dataclass(frozen=True)
class _Suspect:
    """A matrix that nobody has looked at yet."""

    X: Any
    name: str

    def refuse(self, problem: str) -> NoReturn:
        kind = self.X.format.upper()
        raise ValueError(
            f"{self.name} is a malformed {kind} matrix: {problem}. Build it again from "
            "its entries."
        )

    def data(self, n_dimensions: int) -> Array:
        """Return its values, of so many dimensions."""
        array = np.asarray(self.X.data)
        # Complex numbers are numbers: the estimators have a message for them.
        if array.dtype.kind not in "fiubc":
            self.refuse(f"data is of type {array.dtype}, not of numbers")
        if array.ndim != n_dimensions:
            self.refuse(f"data has {array.ndim} dimensions, not {n_dimensions}")
        return array

    def integers(self, what: str, values: Any) -> Array:
        """Return an array of whole numbers."""
        array = np.asarray(values)
        if array.dtype.kind not in "iu":
            self.refuse(f"{what} is of type {array.dtype}, not of integers")
        if array.ndim != 1:
            self.refuse(f"{what} has shape {array.shape}, not one dimension")
        return array

    def check_indices(
        self, what: str, indices: Array, n_lines: int, line: str, place_of: Any = None
    ) -> None:
        """Refuse an index of a row, or column, that is not there."""
        if not len(indices) or (indices.min() >= 0 and indices.max() < n_lines):
            return
        position = int(np.argmax((indices < 0) | (indices >= n_lines)))
        where = "" if place_of is None else f" ({place_of(position)})"
        self.refuse(
            f"{what} holds {indices[position]} at position {position}{where}, but the "
            f"{n_lines} {line}s are counted from 0"
        )

    def check_entry(self, row: Any, column: Any, value: Any) -> None:
        """Refuse an entry of lists or keys outside the matrix, or without a number."""
        place = f"row {row!r:.30}, column {column!r:.30}"
        for index, n_lines in zip((row, column), self.X.shape):
            if not (isinstance(index, Integral) and 0 <= int(index) < n_lines):
                self.refuse(f"it has an entry at {place}, but shape {self.X.shape}")
        if not isinstance(value, Number | np.bool_):
            self.refuse(f"it holds {value!r:.60} at {place}, which is not a number")


def _check_compressed(of: _Suspect) -> Any:
    """Check CSR, CSC and BSR: one line after another, the indices across it."""
    X, blocks, lines = of.X, (1, 1), ["row", "column"]
    data = of.data(3 if X.format == "bsr" else 1)
    if X.format == "bsr":
        blocks, lines = data.shape[1:], ["block row", "block column"]
        if 0 in blocks or X.shape[0] % blocks[0] or X.shape[1] % blocks[1]:
            of.refuse(f"blocks of shape {blocks} do not fill one of shape {X.shape}")
    sizes = [size // of_block for size, of_block in zip(X.shape, blocks)]
    (n_lines, line), across = zip(sizes, lines)
    if X.format == "csc":
        (n_lines, line), across = across, (n_lines, line)
    indptr = of.integers("indptr", X.indptr)
    indices = of.integers("indices", X.indices)
    if len(indices) != len(data):
        of.refuse(f"there are {len(indices)} indices, but {len(data)} data")
    _check_indptr(of, indptr, len(indices), n_lines, line)

    def place_of(position: int) -> str:
        return f"{line} {np.searchsorted(indptr, position, side='right') - 1}"

    n_entries = int(indptr[-1])
    if n_entries < len(indices):
        # scipy keeps room for more entries there.
        data, indices = data[:n_entries], indices[:n_entries]
    of.check_indices("indices", indices, *across, place_of)
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    index_type = NARROW if indptr.dtype == indices.dtype == NARROW else WIDE
    arrays = (
        np.ascontiguousarray(data),
        np.ascontiguousarray(indices, dtype=index_type),
        np.ascontiguousarray(indptr, dtype=index_type),
    )
    if all(new is old for new, old in zip(arrays, (X.data, X.indices, X.indptr))):
        return X
    return type(X)(arrays, shape=X.shape)


def _check_indptr(
    of: _Suspect, indptr: Array, n_indices: int, n_lines: int, line: str
) -> None:
    """Refuse starts of rows, or columns, that do not follow each other."""
    if len(indptr) != n_lines + 1:
        of.refuse(f"indptr has {len(indptr)} entries, not {n_lines} {line}s + 1")
    if indptr[0] != 0:
        of.refuse(f"indptr begins with {indptr[0]}, not with 0")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        n = int(np.argmax(falls))
        of.refuse(f"indptr falls from {indptr[n]} to {indptr[n + 1]} at {line} {n}")
    if indptr[-1] > n_indices:
        of.refuse(f"indptr ends with {indptr[-1]}, but there are {n_indices} indices")


def _check_coordinates(of: _Suspect) -> Any:
    """Check COO: a row and a column for every entry."""
    X, data = of.X, of.data(1)
    coords = X.coords if hasattr(X, "coords") else (X.row, X.col)
    if len(coords) != 2:
        of.refuse(f"entries have {len(coords)} coordinates each, not two")
    found = []
    for what, values, n_lines in zip(("row", "column"), coords, X.shape):
        indices = of.integers(f"coords of {what}s", values)
        if len(indices) != len(data):
            of.refuse(f"there are {len(indices)} {what} indices, but {len(data)} data")
        of.check_indices(f"coords of {what}s", indices, n_lines, what)
        found.append(indices)
    if found[0].dtype == found[1].dtype and found[0].dtype in (NARROW, WIDE):
        return X
    rows, columns = (indices.astype(WIDE) for indices in found)
    return type(X)((data, (rows, columns)), shape=X.shape)


def _check_diagonals(of: _Suspect) -> Any:
    """Check DIA: an offset for every line of data."""
    X, data = of.X, of.data(2)
    offsets = of.integers("offsets", X.offsets)
    if len(offsets) != len(data):
        of.refuse(f"there are {len(offsets)} offsets, but {len(data)} diagonals")
    if len(np.unique(offsets)) < len(offsets):
        of.refuse("some of its offsets are the same")
    inside = (offsets < X.shape[1]) & (offsets > -X.shape[0])
    if inside.all():
        return X
    # Compiled code takes the lower half of an offset, so it must not see such.
    return type(X)((data[inside], offsets[inside].astype(WIDE)), shape=X.shape)


def _check_lists(of: _Suspect) -> Any:
    """Check LIL: for every row a list of columns and one of values."""
    X, n_rows = of.X, of.X.shape[0]
    if not np.shape(X.rows) == np.shape(X.data) == (n_rows,):
        of.refuse(f"rows and data are not {n_rows} lists each")
    for row, (columns, values) in enumerate(zip(X.rows, X.data)):
        if not (isinstance(columns, list) and isinstance(values, list)):
            of.refuse(f"row {row} is not a list")
        if len(columns) != len(values):
            of.refuse(f"row {row} has {len(columns)} columns, but {len(values)} values")
        for column, value in zip(columns, values):
            of.check_entry(row, column, value)
    return X


def _check_keys(of: _Suspect) -> Any:
    """Check DOK: a value for every row and column."""
    for place, value in of.X.items():
        if not (isinstance(place, tuple) and len(place) == 2):
            of.refuse(f"it has an entry at {place!r:.60}, not at a row and a column")
        of.check_entry(*place, value)
    return of.X


CHECKS: dict[str, Callable[[_Suspect], Any]] = {
    **dict.fromkeys(("csr", "csc", "bsr"), _check_compressed),
    "coo": _check_coordinates,
    "dia": _check_diagonals,
    "lil": _check_lists,
    "dok": _check_keys,
}
