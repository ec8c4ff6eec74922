"""Which rows are on the device? Those of a fit stay there, others come and go."""

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch

from cprime.blocks import LEAF_ROWS, Block, Elsewhere
from cprime.kernels.gpu.devices import free_bytes, to_device
from cprime.kernels.gpu.halves import Frame, RowHalves
from cprime.kernels.gpu.tensors import DeviceRows
from cprime.typing import Array

# Rows are swept in pieces of so many leaves, a node of the tree, or fewer if they are
# wide: what is computed of a piece is in memory at once.
PIECE_LEAVES = 2**11
VALUES_OF_PIECE = 2**29
# Rows that are measured at once.
ROWS_AT_ONCE = 2**18
# Rows stay on the device if they take no more of its free memory than this, as given,
# as halves and with what a sweep notes of them.
SHARE_OF_MEMORY = 0.6


@dataclass
class Piece:
    """Rows on the device that lie together, from the start of a leaf.

    Attributes
    ----------
    first : int
        Number of the first row.
    rows : tensor of shape (B, D), float32 or float64
    weights : tensor of shape (B,), float64
    """

    first: int
    rows: torch.Tensor
    weights: torch.Tensor

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def place(self) -> slice:
        """Where the rows lie among all."""
        return slice(self.first, self.first + self.n_rows)

    @cached_property
    def has_unit_weights(self) -> bool:
        """Whether every row weighs 1."""
        return bool((self.weights == 1.0).all())

    @cached_property
    def frame(self) -> Frame:
        """Where halves of the rows are counted from."""
        return Frame.of(self.rows)

    @cached_property
    def reach(self) -> float:
        """How far from the frame's origin a row is, at most."""
        parts = self.rows.split(ROWS_AT_ONCE)
        farthest = [(part.double() - self.frame.origin).norm(dim=1) for part in parts]
        return float(torch.stack([of.max() for of in farthest]).max())

    @cached_property
    def _halves(self) -> RowHalves:
        return RowHalves.of(self.rows, self.frame)

    def halves(self) -> RowHalves:
        """Return the rows as halves, which are kept."""
        return self._halves


@dataclass(frozen=True, eq=False)
class DeviceBlock:
    """A block of rows that are on the device, or come there piece by piece.

    Attributes
    ----------
    block : Block
        As it lies in the memory of the host, or as its owner has it on the device.
    stays : bool
        Whether pieces are kept on the device.
    pieces : dict
        Those that are there, by their first row.
    """

    block: Block
    stays: bool
    pieces: dict[int, Piece] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, block: Block) -> Self:
        """Return a block whose pieces stay on the device if there is room."""
        n_rows, D = block.X.shape
        is_there = isinstance(block.X, Elsewhere) and block.scale == 1.0
        of_value = 2 + (0 if is_there else np.dtype(block.X.dtype).itemsize)
        wanted = n_rows * (D * of_value + 64)
        found = cls(block, wanted <= SHARE_OF_MEMORY * free_bytes())
        if found.stays and isinstance(block.X, np.ndarray | Elsewhere):
            _RESIDENTS[_address(block.X)] = found
        return found

    @property
    def n_rows(self) -> int:
        return self.block.n_rows

    @property
    def n_features(self) -> int:
        return int(self.block.X.shape[1])

    def __iter__(self) -> Iterator[Piece]:
        D = self.n_features
        leaves = PIECE_LEAVES
        while leaves > 1 and leaves * LEAF_ROWS * D > VALUES_OF_PIECE:
            leaves //= 2
        for some in self.block.slices(leaves * LEAF_ROWS):
            piece = self.pieces.get(some.start)
            if piece is None:
                piece = Piece(
                    some.start,
                    tensor_of(self.block.dense(some)),
                    to_device(np.array(self.block.weights[some])),
                )
                if self.stays:
                    self.pieces[some.start] = piece
            yield piece


def tensor_of(values: Array | Elsewhere) -> torch.Tensor:
    """Return rows on the device: those that are there, or a copy."""
    if isinstance(values, DeviceRows):
        return values.tensor
    return to_device(np.ascontiguousarray(values))


def pieces_of(values: Array | Elsewhere) -> Iterator[Piece]:
    """Yield the pieces of some values: those of a fit, if they are its rows.

    Rows of a fit are handed out as views of the array they lie in, and so found again.
    """
    resident = _RESIDENTS.get(_address(_whole(values)))
    if resident is not None and _is_whole(values, resident.block):
        yield from resident
        return
    block = Block(values, np.broadcast_to(1.0, len(values)))
    yield from DeviceBlock(block, stays=False)


def _whole(values: Any) -> Any:
    """Return the array that these are a view of."""
    while isinstance(getattr(values, "base", None), np.ndarray):
        values = values.base
    return values


def _is_whole(values: Any, block: Block) -> bool:
    """Return whether values are all rows of a block, as they lie."""
    return block.scale == 1.0 and _layout(values) == _layout(block.X)


def _layout(values: Any) -> tuple[Any, ...]:
    """Return what tells values from others: where they lie, and how."""
    strides = values.tensor.stride() if _is_there(values) else values.strides
    return _address(values), values.shape, strides, values.dtype


def _address(values: Any) -> tuple[bool, int]:
    """Return where values begin, on the device or in the memory of the host."""
    if _is_there(values):
        return True, values.tensor.data_ptr()
    return False, int(values.__array_interface__["data"][0])


def _is_there(values: Any) -> bool:
    return isinstance(values, DeviceRows)


_RESIDENTS: Any = weakref.WeakValueDictionary()
