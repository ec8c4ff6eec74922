"""How is whatever a user names as their data opened?"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cprime import extras
from cprime.sources.columns import Columns, Selection, Wanted, choose
from cprime.sources.data import Data
from cprime.sources.display import reason, shown
from cprime.sources.header import check_header, refuse_header
from cprime.sources.memory import bytes_of
from cprime.sources.npy import open_npy
from cprime.sources.path_checks import check_readable
from cprime.sources.scratch import scratch_folder
from cprime.sources.storage_budget import Budget, read_limit
from cprime.typing import Array


def is_source(X: Any) -> bool:
    """Return whether X says where rows are, rather than being their values."""
    if isinstance(X, str | os.PathLike | Data) or callable(X):
        return True
    # Whoever has one of Arrow's objects has imported it.
    return type(X).__module__.partition(".")[0] == "pyarrow"


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection, without importing Dask."""
    of_dask = type(X).__module__.partition(".")[0] == "dask"
    return of_dask and hasattr(X, "__dask_graph__")


def open_data(
    X: Any,
    columns: str | Sequence[str] | None = None,
    *,
    memory: int | str | None = None,
    scratch: str | os.PathLike[str] | None = None,
    header: bool | None = None,
    drop: str | Sequence[str] | None = None,
    drop_missing: bool = False,
) -> Data:
    r"""Open rows of numbers for fits and predictions, however many there are.

    Rows that fit in memory are held there. Others are read from disk block by block in
    every pass: .npy files as they lie, everything else is written once, row by row, to
    a temporary file.

    Parameters
    ----------
    X : str, path, pyarrow Dataset or Table, callable, or array of shape (N, D)
        A file, .npy, .parquet, .arrow (or .feather), .csv, .tsv (also .gz); a folder of
        Parquet or Arrow files, in the order of their names; or a function that returns
        an iterator of arrays.
    columns : str or list of str, optional
        Names of columns, or patterns such as "f*"; several as a list or with commas. In
        files without names, columns are called "0", "1", ... By default all.
    memory : int or str, optional
        Memory limit for data, in bytes or as "200MB". By default a quarter of what the
        machine has.
    scratch : str or path, optional
        Folder for temporary files.
    header : bool, optional
        Whether the first line of a text file (.csv, .tsv, .txt) holds the names of the
        columns, True, or is a row, False. By default that is decided by what it holds
        and what stands below it, as `columns` of the data says; where both may be, it
        is an error.
    drop : str or list of str, optional
        Columns to leave out, by name or pattern.
    drop_missing : bool, default=False
        Whether to leave out rows of which a value is missing, that is NaN or empty;
        `place_of.dropped` of the data are their numbers.

    Returns
    -------
    data : Data

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from cprime import KMeans, open_data
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "points.csv"
    >>> _ = path.write_text("x,y,name\n1,2,a\n1,4,b\n10,2,c\n10,4,d\n")
    >>> data = open_data(path, columns="x,y")
    >>> data.shape, data.names
    ((4, 2), ('x', 'y'))
    >>> KMeans(2, random_state=0).fit(data).predict(data)
    array([0, 0, 1, 1], dtype=int32)
    """
    if isinstance(X, Data):
        if not (columns is None and header is None and drop is None) or drop_missing:
            raise ValueError("Columns are chosen when data are opened, not later.")
        return X
    header = check_header(header)
    budget = Budget(bytes_of(memory), scratch_folder(scratch), drop_missing)
    wanted = Selection(columns, drop)
    if isinstance(X, str | os.PathLike):
        return _open_path(check_readable(Path(X)), wanted, header, budget)
    refuse_header(header, "X")
    if callable(X):
        return _open_batches(X, wanted, budget)
    if is_source(X):
        return _open_arrow(X, f"a pyarrow {type(X).__name__}", wanted, budget)
    values = _numbers(X, "X")
    values = _select(values, _places(values, wanted, "X"))
    D, origin = values.shape[1], "an array"
    nameless = Columns.of(None, origin)
    return budget.collect([values], D, values.dtype, nameless, origin)


def _open_path(
    path: Path, columns: Wanted, header: bool | None, budget: Budget
) -> Data:
    if path.suffix.lower() == ".npy" and path.is_file():
        refuse_header(header, path)
        return _open_npy(path, columns, budget)
    origin = shown(path.name)
    # Arrow is imported only where it is needed.
    extras.require("files", f"Reading {origin}")
    from cprime.sources import folder, text

    if path.is_file() and text.is_text(path):
        found = text.open_text(path, columns, read_limit(budget.memory), header)
        return budget.collect(
            found.batches,
            found.n_features,
            np.float64,
            found.columns,
            origin,
            lines=found.lines,
        )
    refuse_header(header, path)
    source = folder.from_files(folder.files_of(path), read_limit(budget.memory))
    return _open_columns(source, origin, columns, budget)


def _open_npy(path: Path, columns: Wanted, budget: Budget) -> Data:
    npy, origin = open_npy(path), shown(path.name)
    (N, D), dtype = npy.shape, npy.dtype
    nameless = Columns.of(None, origin)
    places = _places(npy, columns, shown(path))
    as_it_lies = npy.is_ready and places == list(range(D))
    if not as_it_lies or budget.drop_missing:
        narrow = dtype.newbyteorder("=") == np.float32
        wanted = np.dtype(np.float32 if narrow else np.float64)
        batches = npy.batches(places)
        return budget.collect(batches, len(places), wanted, nameless, origin, N)
    rows = npy.rows()
    in_memory = N * rows.row_bytes <= budget.row_memory
    return budget.data(rows.read(0, N) if in_memory else rows, nameless, origin)


def _open_arrow(X: Any, origin: str, columns: Wanted, budget: Budget) -> Data:
    from cprime.sources import arrow

    if not arrow.is_arrow_object(X):
        raise ValueError(
            f"{origin} cannot be read: give a Dataset, Table or RecordBatch."
        )
    return _open_columns(arrow.from_object(X, origin), origin, columns, budget)


def _open_columns(source: Any, origin: str, columns: Wanted, budget: Budget) -> Data:
    from cprime.sources import arrow

    every = source.names
    places = choose(every, columns, origin)
    names = [every[i] for i in places]
    dtype = source.dtype(places)
    batches = (arrow.to_rows(batch, dtype, origin) for batch in source.of(names))
    D, N = len(names), source.n_rows
    return budget.collect(batches, D, dtype, Columns.of(names, origin), origin, N)


def _open_batches(
    function: Callable[[], Iterable[Any]], columns: Wanted, budget: Budget
) -> Data:
    origin = f"{shown(getattr(function, '__name__', type(function).__name__))}()"
    given = function()
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{origin} returned {type(given).__name__}, not an iterator of arrays of "
            "rows."
        )
    batches = (
        _numbers(batch, f"Batch {i} of {origin}") for i, batch in enumerate(given)
    )
    first = next(batches, None)
    if first is None:
        raise ValueError(f"{origin} gave no batch of rows at all.")
    places = _places(first, columns, origin)

    def copies() -> Iterator[Array]:
        # Whoever gives them may use one array for all.
        yield _select(first, places).copy()
        for i, batch in enumerate(batches, start=1):
            if batch.shape[1] != first.shape[1] or batch.dtype != first.dtype:
                raise ValueError(
                    f"Batch {i} of {origin} has {batch.shape[1]} columns of "
                    f"{batch.dtype}, those before it have {first.shape[1]} of "
                    f"{first.dtype}: all must be alike."
                )
            yield _select(batch, places).copy()

    nameless = Columns.of(None, origin)
    return budget.collect(copies(), len(places), first.dtype, nameless, origin)


def _places(rows: Any, columns: Wanted, origin: str) -> list[int]:
    """Return the places of wanted columns that have numbers for names."""
    return choose([str(i) for i in range(rows.shape[1])], columns, origin)


def _select(rows: Array, places: list[int]) -> Array:
    """Return these columns, with the values of a row next to each other."""
    if places != list(range(rows.shape[1])):
        rows = rows[:, places]
    return np.ascontiguousarray(rows)


def _numbers(X: Any, what: str) -> Array:
    """Return rows of numbers as float32 or float64, or say what they are instead."""
    try:
        values = np.asarray(X)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{what} should be numbers in rows and columns: {reason(error)}."
        ) from None
    if values.dtype.kind not in "fiub" or values.ndim != 2:
        raise ValueError(
            f"{what} should be numbers in rows and columns, not {type(X).__name__} of "
            f"{reason(values.dtype)} of shape {values.shape}."
        )
    if np.ma.is_masked(X):
        raise ValueError(f"{what} has masked values: fill them in first.")
    narrow = values.dtype == np.float32
    with np.errstate(over="ignore"):
        # A long double beyond float64 becomes infinite, and is found as that.
        return values.astype(np.float32 if narrow else np.float64, copy=False)
