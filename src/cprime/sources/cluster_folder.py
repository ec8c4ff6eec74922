"""Rows of Parquet and Arrow files, read by the workers of a cluster."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cprime.sources import folder, parquet
from cprime.sources.arrow import dtype_of, to_rows
from cprime.sources.cluster import Task, task
from cprime.sources.collection import DaskData
from cprime.sources.columns import Columns, Wanted, choose
from cprime.sources.display import shown
from cprime.sources.memory import bytes_of
from cprime.sources.path_checks import check_readable
from cprime.sources.pieces import as_array
from cprime.sources.row_places import RowPlaces
from cprime.sources.standardize import scaled_rows
from cprime.sources.storage_budget import read_limit
from cprime.typing import Array

# Numbers that one task reads: 128 MB of float64.
PIECE_VALUES = 2**24


class Piece(NamedTuple):
    """A file, or some of the groups of rows in it.

    Attributes
    ----------
    path : path
        The same on all machines.
    groups : tuple of int, optional
        None is all of the file.
    n_rows : int, optional
        If the file says it.
    """

    path: Path
    groups: tuple[int, ...] | None
    n_rows: int | None


class ClusterFolder(DaskData):
    """The rows of a folder that all machines see, as `Data` and as a collection.

    This process looks at the heads of files, workers read them.

    Attributes
    ----------
    columns : Columns
    shift, scale : ndarray of shape (D,), or None
        What is subtracted from every column, and by what it is then divided.
    place_of : RowPlaces
    on_rows : None
        Who sweeps rows elsewhere does not notify anybody of rows that were read.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        columns: Columns,
        dtype: Any,
        origin: str,
        shift: Array | None = None,
        scale: Array | None = None,
    ):
        self._pieces = list(pieces)
        self.columns, self.names = columns, columns.names
        self.is_frame = True
        self.origin = origin
        self.dtype = np.dtype(dtype)
        self.checks = []
        self.shift, self.scale = shift, scale
        self.place_of = RowPlaces()
        self.on_rows = None

    @property
    def n_features(self) -> int:
        return len(self.columns.names or ())

    @property
    def declared_rows(self) -> tuple[int | None, ...]:
        return tuple(piece.n_rows for piece in self._pieces)

    @cached_property
    def chunks(self) -> list[Task]:
        names = list(self.columns.names or ())
        return [
            task(read_piece, piece, names, self.dtype, self.shift, self.scale)
            for piece in self._pieces
        ]

    def scaled(self, shift: Array, scale: Array) -> "ClusterFolder":
        """Return the same rows with columns given as (value - shift) / scale."""
        of = self._pieces, self.columns, self.dtype, self.origin
        return ClusterFolder(*of, np.asarray(shift), np.asarray(scale))

    def one_column(self) -> Any:
        """Return the only column as a Dask array, shape (N,)."""
        tasks = [task(_first_column, chunk) for chunk in self.chunks]
        return as_array(tasks, self.declared_rows, np.empty(0, dtype=self.dtype))


def open_on_cluster(path: Path, wanted: Wanted = None) -> ClusterFolder:
    """Return the rows of a file, or of a folder of files, that workers will read.

    Parameters
    ----------
    path : path
        Of Parquet or Arrow files; all machines must see them at the same place.
    wanted : str, list of str or Selection, optional
        Columns to read.
    """
    path = check_readable(path.absolute())
    origin, limit = shown(path.name), read_limit(bytes_of(None))
    if path.is_file() and path.suffix.lower() not in folder.KINDS:
        raise ValueError(
            f"{origin} cannot be read by a cluster, whose workers read .parquet and "
            ".arrow files, or folders of them: convert it."
        )
    files = folder.files_of(path)
    source = folder.from_files(files, limit)
    places = choose(source.names, wanted, origin)
    names = [source.names[i] for i in places]
    pieces = [
        piece for file in files for piece in _pieces(file, PIECE_VALUES // len(names))
    ]
    return ClusterFolder(
        pieces, Columns.of(names, origin), source.dtype(places), origin
    )


def read_piece(
    piece: Piece,
    names: list[str],
    dtype: Any,
    shift: Array | None,
    scale: Array | None,
) -> Array:
    """Return the rows of a piece as this worker sees it."""
    path, limit = piece.path, read_limit(bytes_of(None))
    try:
        kind = folder.KINDS[check_readable(path).suffix.lower()]
        head = kind.head(path, limit)
        more = () if piece.groups is None else (piece.groups,)
        batches = list(kind.batches(path, names, limit, head.sizes, *more))
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"A worker has no file {shown(path)}: all machines must see the data at "
            "the same place."
        ) from error
    # Files may have been written since this fit began.
    dtype_of(head.schema, [head.names.index(n) for n in names], shown(path))
    rows = [to_rows(batch, dtype, shown(path)) for batch in batches]
    values = np.concatenate([np.empty((0, len(names)), dtype=dtype), *rows])
    if shift is not None and scale is not None:
        values = scaled_rows(values, shift, scale)
    return values


def _pieces(file: Path, at_once: int) -> list[Piece]:
    """Return a file in pieces of about so many rows, or fewer."""
    if folder.KINDS[file.suffix.lower()] is not parquet:
        return [Piece(file, None, None)]
    pieces: list[Piece] = []
    for group, n_rows in enumerate(parquet.row_groups(file)):
        last = pieces[-1] if pieces else None
        if last is None or (last.n_rows or 0) + n_rows > at_once:
            pieces.append(Piece(file, (group,), n_rows))
        else:
            groups = (*(last.groups or ()), group)
            pieces[-1] = Piece(file, groups, (last.n_rows or 0) + n_rows)
    return pieces or [Piece(file, (), 0)]


def _first_column(chunk: Array) -> Array:
    return chunk[:, 0].astype(np.float64)
