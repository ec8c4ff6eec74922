"""What a fit asks of all rows before it begins, in one call of compiled code each."""

from typing import NamedTuple

import numpy as np

from cprime.blocks import LEAF_ROWS, Block
from cprime.kernels import _native, native
from cprime.typing import Array


def one_cluster(block: Block) -> tuple[Array, float]:
    """Return the mean of all rows, shape (D,), and their variance about it.

    EM with one cluster, which two sweeps of the kernel would find with the same bits.
    The variance is averaged over features.
    """
    mean = np.empty(block.X.shape[1])
    variance = _native.one_cluster(
        rows=native.as_rows(block),
        weights=block.weights,
        start=int(block.weights.argmax()),
        leaf_rows=LEAF_ROWS,
        mean=mean,
    )
    return mean, variance


class LinedUp(NamedTuple):
    """Rows in their order along a direction.

    Attributes
    ----------
    order : ndarray of shape (B,), int64
        The rows. Those in the same place are ordered by value.
    copies : ndarray of shape (B,), int64
        Of the rows so ordered, a number that only identical ones share; it rises.
    """

    order: Array
    copies: Array


def line_up(block: Block, direction: Array, middle: Array) -> LinedUp:
    """Order rows by sum_d (y_d - middle_d) direction_d, and tell copies apart.

    Rows that differ may share a place if another is so far away that rounding takes the
    difference.

    Parameters
    ----------
    block : Block
    direction, middle : ndarray of shape (D,)
    """
    found = LinedUp(*np.empty((2, block.n_rows), dtype=np.int64))
    _native.line_up(
        rows=native.as_rows(block),
        direction=direction,
        middle=middle,
        **found._asdict(),
    )
    return found
