"""Rows of numbers, in memory or in a file, as one thing."""

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import cached_property, reduce
from itertools import starmap
from operator import add
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from cprime.blocks import LEAF_ROWS
from cprime.kernels.block_pipeline import get_num_threads, pipeline
from cprime.kernels.native import magnitude
from cprime.sources.columns import Columns
from cprime.sources.memory import in_words
from cprime.sources.prefetch import BUFFERS, read_ahead
from cprime.sources.row_file import RowFile
from cprime.sources.row_places import RowPlaces
from cprime.sources.standardize import scaled_rows, shift_and_scale
from cprime.summation import LeafSum
from cprime.typing import Array

Result = TypeVar("Result")

# A block is large enough that starting threads on it is nothing, and small beside the
# memory of a laptop.
BLOCK_BYTES = 2**24
# All blocks that are held at a time may take the memory divided by this.
OF_BLOCKS = 4


class Data:
    """Rows of numbers, in memory or on disk: what `open_data` returns.

    Every estimator takes one in place of an array. Rows that memory does not hold are
    read block by block, whenever they are needed.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns, which are also `n_rows` and `n_features`.
    dtype : dtype
        float32 or float64.
    nbytes : int
        Bytes of all values.
    columns : Columns
        Their `names`, a sentence on how these were found (`decision`), and whether
        that `is_guess`: for a text file, give `header` if it is wrong.
    names : tuple of str, or None
        Of the columns, the same as `columns.names`.
    origin : str
        What the user calls it.
    in_memory : bool
        Whether all rows are held in memory.
    memory : int
        Bytes that rows, and what belongs to them, may take in memory.
    scratch : Path
        Folder for what memory does not hold.
    place_of : callable
        Says where a row of this number stands: "line 14" of a text file, or "row 12".
        Its `dropped` are the numbers of rows that were left out.
    shift, scale : ndarray of shape (D,), or None
        Columns are given as (value - shift) / scale.
    on_rows : callable, optional
        Called with how many rows were read, block by block.
    """

    def __init__(
        self,
        values: Array | RowFile,
        *,
        columns: Columns,
        origin: str,
        memory: int,
        scratch: Path,
        places: RowPlaces | None = None,
        shift: Array | None = None,
        scale: Array | None = None,
    ):
        self._values = values
        self.columns = columns
        self.names = columns.names
        self.origin = origin
        self.memory = memory
        self.scratch = scratch
        self.place_of = RowPlaces() if places is None else places
        self.shift = shift
        self.scale = scale
        self.on_rows: Callable[[int], None] | None = None

    def __repr__(self) -> str:
        where = "in memory" if self.in_memory else "on disk"
        return (
            f"<{self.origin}: {self.n_rows:,} rows x {self.n_features:,} columns, "
            f"{self.dtype}, {in_words(self.nbytes)} {where}>"
        )

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_features = self._values.shape
        return int(n_rows), int(n_features)

    @property
    def dtype(self) -> Any:
        return self._values.dtype

    @property
    def n_rows(self) -> int:
        return self.shape[0]

    @property
    def n_features(self) -> int:
        return self.shape[1]

    @property
    def nbytes(self) -> int:
        return self.n_rows * self.n_features * int(self.dtype.itemsize)

    @property
    def in_memory(self) -> bool:
        """Whether all rows are held in memory."""
        return isinstance(self._values, np.ndarray)

    @property
    def block_rows(self) -> int:
        """How many rows make a good block: leaves of one node of the tree of sums."""
        return self._rows_of_block(BUFFERS)

    def blocks(self, n_rows: int | None = None) -> Iterator[tuple[int, Array]]:
        """Yield the number of the first row, and the rows, of every block in order.

        The next block is read while one is in use, which is valid until then.

        Parameters
        ----------
        n_rows : int, optional
            Of a block; by default as many whole leaves as are good to compute with.
        """
        places = self._places(n_rows or self.block_rows)
        for place, values in zip(places, self._each(places)):
            yield place.start, values
            if self.on_rows is not None:
                self.on_rows(len(values))

    def abreast(
        self, compute: Callable[[slice, Array], Result]
    ) -> Generator[tuple[slice, Result]]:
        """Yield where every block lies and compute(that, its rows), in order.

        As many threads as compiled code may use do it side by side, each with a block
        of its own, while the system reads what comes next.
        """
        most = max(1, self.memory // OF_BLOCKS // self._leaf_bytes)
        n_threads = min(get_num_threads(), most)
        size = self._rows_of_block(n_threads)
        places = self._places(size)

        def read(place: slice, buffer: Array) -> Array:
            assert isinstance(self._values, RowFile)
            self._values.expect(place.stop + (n_threads - 1) * size, size)
            return self._read_into(place, buffer)

        buffers = self._buffers(places, n_threads)
        # Closed at once: an error keeps what it went through, and threads with it.
        with closing(pipeline(read, compute, places, buffers)) as results:
            for place, result in zip(places, results):
                yield place, result
                if self.on_rows is not None:
                    self.on_rows(place.stop - place.start)

    def read(self, start: int, stop: int) -> Array:
        """Return the rows from `start` up to `stop`, shape (any, D)."""
        if isinstance(self._values, np.ndarray):
            return self._scaled(self._values[start:stop])
        return self._scaled(self._values.read(start, min(stop, self.n_rows)))

    def take(self, indices: Array) -> Array:
        """Return these rows, shape (len(indices), D)."""
        if isinstance(self._values, np.ndarray):
            return self._scaled(self._values[indices])
        return self._scaled(self._values.take(indices))

    def load(self) -> Array:
        """Return all rows in memory, shape (N, D)."""
        return self.read(0, self.n_rows)

    def scaled(self, shift: Array, scale: Array) -> "Data":
        """Return the same rows with columns given as (value - shift) / scale."""
        if self.shift is not None:
            raise ValueError(f"The columns of {self.origin} have been scaled already.")
        shifted = Data(
            self._values,
            columns=self.columns,
            origin=self.origin,
            memory=self.memory,
            scratch=self.scratch,
            places=self.place_of,
            shift=np.asarray(shift, dtype=np.float64),
            scale=np.asarray(scale, dtype=np.float64),
        )
        shifted.on_rows = self.on_rows
        return shifted

    def standardized(self) -> "Data":
        """Return the same rows with columns of mean 0 and standard deviation 1.

        A column that is the same in all rows is only shifted. Sums have a fixed order:
        it does not matter whether rows are in memory.
        """
        return self.scaled(*shift_and_scale(self))

    def leaf_sum(self, of_block: Callable[[int, Array], LeafSum]) -> LeafSum:
        """Return the sum of of_block(first row, rows) over blocks of whole leaves."""
        return reduce(add, starmap(of_block, self.blocks(self.block_rows)))

    @cached_property
    def largest(self) -> float:
        """The largest absolute value; inf or nan if there is one."""
        found = [magnitude(values) for _, values in self.blocks()]
        return float(np.max(found, initial=0.0))

    def first(self, where: Callable[[Array], Array]) -> tuple[int, int, float, int]:
        """Return row, column and value of the first hit, and the number of hits."""
        found: tuple[int, int, float] | None = None
        count = 0
        for start, values in self.blocks():
            hits = where(values)
            count += int(np.count_nonzero(hits))
            if found is None and hits.any():
                row, column = (int(i) for i in np.argwhere(hits)[0])
                found = start + row, column, float(values[row, column])
        assert found is not None
        return *found, count

    def fingerprint(self) -> str:
        """Return a hash of shape, dtype and values: the same for the same rows."""
        digest = hashlib.sha256(repr((self.shape, self.dtype.str)).encode())
        for _, values in self.blocks():
            digest.update(np.ascontiguousarray(values).data)
        return f"sha256:{digest.hexdigest()}"

    @property
    def _leaf_bytes(self) -> int:
        return LEAF_ROWS * self.n_features * int(self.dtype.itemsize)

    def _rows_of_block(self, n_buffers: int) -> int:
        """Return how many rows a block has if there are so many at a time."""
        n_bytes = min(BLOCK_BYTES, self.memory // OF_BLOCKS // n_buffers)
        n_leaves = max(1, n_bytes // self._leaf_bytes)
        return LEAF_ROWS * int(2 ** (n_leaves.bit_length() - 1))

    def _places(self, size: int) -> list[slice]:
        """Return where blocks of so many rows lie."""
        starts = range(0, self.n_rows, size)
        return [slice(start, min(start + size, self.n_rows)) for start in starts]

    def _buffers(self, places: list[slice], count: int) -> list[Array]:
        """Return buffers for so many blocks at a time, as far as there are as many."""
        size = max((place.stop - place.start for place in places), default=0)
        shape, count = (size, self.n_features), min(count, max(len(places), 2))
        return [np.empty(shape, dtype=self.dtype) for _ in range(count)]

    def _each(self, places: list[slice]) -> Iterator[Array]:
        if self.in_memory:
            return (self.read(place.start, place.stop) for place in places)
        return read_ahead(self._read_into, places, self._buffers(places, BUFFERS))

    def _read_into(self, place: slice, buffer: Array) -> Array:
        assert isinstance(self._values, RowFile)
        rows = buffer[: place.stop - place.start]
        return self._scaled(self._values.read_into(rows, place.start), out=rows)

    def _scaled(self, values: Array, out: Array | None = None) -> Array:
        if self.shift is None or self.scale is None:
            return values
        return scaled_rows(values, self.shift, self.scale, out)
