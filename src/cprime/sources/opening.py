"""How is whatever a person names as their data opened?"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cprime.sources.columns import Wanted, chosen
from cprime.sources.data import Data
from cprime.sources.gathered import gathered
from cprime.sources.memory import bytes_of
from cprime.sources.npy import open_npy
from cprime.sources.raw import RawRows
from cprime.sources.scratch import scratch_folder
from cprime.typing import Array

# Of the memory a person allows, what rows may take: clusters, and what is gathered in
# batches before it lies together, need the rest.
SHARE_OF_ROWS = 0.5


def is_source(X: Any) -> bool:
    """Return whether X says where rows are, rather than being their values."""
    if isinstance(X, str | os.PathLike | Data) or callable(X):
        return True
    # Whoever has one of Arrow's objects has imported it.
    return type(X).__module__.partition(".")[0] == "pyarrow"


def open_data(
    X: Any,
    columns: Wanted = None,
    *,
    memory: int | str | None = None,
    scratch: str | os.PathLike[str] | None = None,
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
        What rows may take, in bytes or as "200MB". By default a quarter of what the
        machine has.
    scratch : str or path, optional
        Folder for temporary files.

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
        if columns is not None:
            raise ValueError("Columns are chosen when data are opened, not later.")
        return X
    room = _Room(bytes_of(memory), scratch_folder(scratch))
    if isinstance(X, str | os.PathLike):
        return _open_path(_existing(Path(X)), columns, room)
    if callable(X):
        return _open_batches(X, columns, room)
    if is_source(X):
        return _open_arrow(X, f"a pyarrow {type(X).__name__}", columns, room)
    values = _numbers(X, "X")
    values = _selected(values, _places(values, columns, "X"))
    return room.data(values, None, "an array")


@dataclass(frozen=True)
class _Room:
    """What memory and disk there are for rows."""

    memory: int
    scratch: Path

    @property
    def fits(self) -> int:
        return int(SHARE_OF_ROWS * self.memory)

    def gathered(
        self,
        batches: Iterable[Array],
        n_features: int,
        dtype: Any,
        names: tuple[str, ...] | None,
        origin: str,
    ) -> Data:
        rows = gathered(batches, n_features, dtype, self.fits, self.scratch)
        return self.data(rows, names, origin)

    def data(
        self, rows: Array | RawRows, names: tuple[str, ...] | None, origin: str
    ) -> Data:
        return Data(
            rows, names=names, origin=origin, memory=self.memory, scratch=self.scratch
        )


def _existing(path: Path) -> Path:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileNotFoundError(f"{path} cannot be opened: {reason}.") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ValueError(f"{path} is neither a file nor a folder.")
    return path


def _open_path(path: Path, columns: Wanted, room: _Room) -> Data:
    if path.suffix.lower() == ".npy" and path.is_file():
        return _open_npy(path, columns, room)
    # Arrow is imported only where it is needed.
    from cprime.sources import arrow, text

    if path.is_file() and text.is_text(path):
        names, n_features, batches = text.open_text(path, columns)
        return room.gathered(batches, n_features, np.float64, names, path.name)
    files = arrow.files_of(path)
    return _open_columns(arrow.from_files(files), path.name, columns, room)


def _open_npy(path: Path, columns: Wanted, room: _Room) -> Data:
    npy = open_npy(path)
    (N, D), dtype = npy.shape, npy.dtype
    places = _places(npy, columns, str(path))
    if not (npy.is_ready and places == list(range(D))):
        narrow = dtype.newbyteorder("=") == np.float32
        wanted = np.dtype(np.float32 if narrow else np.float64)
        batches = npy.batches(places)
        return room.gathered(batches, len(places), wanted, None, path.name)
    rows = npy.rows()
    in_memory = N * rows.row_bytes <= room.fits
    return room.data(rows.read(0, N) if in_memory else rows, None, path.name)


def _open_arrow(X: Any, origin: str, columns: Wanted, room: _Room) -> Data:
    from cprime.sources import arrow

    if not arrow.is_arrow_object(X):
        raise ValueError(
            f"{origin} cannot be read: give a Dataset, Table or RecordBatch."
        )
    return _open_columns(arrow.from_object(X), origin, columns, room)


def _open_columns(source: Any, origin: str, columns: Wanted, room: _Room) -> Data:
    from cprime.sources import arrow

    every = source.schema.names
    names = [every[i] for i in chosen(every, columns, origin)]
    dtype = arrow.dtype_of(source.schema, names, origin)
    batches = (arrow.turned(batch, dtype) for batch in source.of(names))
    return room.gathered(batches, len(names), dtype, tuple(names), origin)


def _open_batches(
    function: Callable[[], Iterable[Any]], columns: Wanted, room: _Room
) -> Data:
    batches = (_numbers(batch, f"Batch {i}") for i, batch in enumerate(function()))
    first = next(batches, None)
    origin = getattr(function, "__name__", "an iterator")
    if first is None:
        raise ValueError(f"{origin}() gave no batch of rows at all.")
    places = _places(first, columns, origin)

    def all_batches() -> Iterator[Array]:
        yield _selected(first, places)
        for i, batch in enumerate(batches, start=1):
            if batch.shape[1] != first.shape[1]:
                raise ValueError(
                    f"Batch {i} of {origin}() has {batch.shape[1]} columns, those "
                    f"before it have {first.shape[1]}."
                )
            yield _selected(batch, places)

    return room.gathered(all_batches(), len(places), first.dtype, None, origin)


def _places(rows: Any, columns: Wanted, origin: str) -> list[int]:
    """Return the places of wanted columns that have numbers for names."""
    return chosen([str(i) for i in range(rows.shape[1])], columns, origin)


def _selected(rows: Array, places: list[int]) -> Array:
    """Return these columns, with the values of a row next to each other."""
    if places != list(range(rows.shape[1])):
        rows = rows[:, places]
    return np.ascontiguousarray(rows)


def _numbers(X: Any, what: str) -> Array:
    values = np.asarray(X)
    if values.dtype.kind not in "fiub" or values.ndim != 2:
        raise ValueError(
            f"{what} should be numbers in rows and columns, not an array of "
            f"{values.dtype} of shape {values.shape}."
        )
    narrow = values.dtype == np.float32
    return values.astype(np.float32 if narrow else np.float64, copy=False)
