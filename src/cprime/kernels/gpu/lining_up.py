"""In which order do rows on the device lie along a direction?

As `surveys.line_up` finds it, to the last row. Every step is one operation of torch
that rounds once: nothing is fused.
"""

from collections.abc import Iterator

import torch

from cprime.kernels.gpu.devices import told_if_full
from cprime.kernels.gpu.residents import DeviceBlock, tensor_of
from cprime.kernels.surveys import LinedUp
from cprime.typing import Array

# Values of rows that are compared together.
VALUES_AT_ONCE = 2**24


@told_if_full()
def line_up(block: DeviceBlock, direction: Array, middle: Array) -> LinedUp:
    """Order rows by sum_d (y_d - middle_d) direction_d, and tell copies apart.

    Parameters
    ----------
    block : DeviceBlock
    direction, middle : ndarray of shape (D,)
    """
    places = [_places(piece.rows, direction, middle) for piece in block]
    at, order = torch.sort(torch.cat(places), stable=True)
    is_apart = _first_and(at[1:] != at[:-1])
    differs = is_apart.clone()
    for pairs in _few((~is_apart).nonzero()[:, 0], block):
        of_pairs = _rows(block, order[pairs]), _rows(block, order[pairs - 1])
        differs[pairs] = (of_pairs[0] != of_pairs[1]).any(dim=1)
    # Rows that differ may share a place: those are ordered by value.
    place = is_apart.cumsum(dim=0)
    shared = torch.isin(place, place[differs & ~is_apart]).nonzero()[:, 0]
    if len(shared) > 0:
        order[shared], differs[shared] = _by_value(
            order[shared], place[shared], _rows(block, order[shared])
        )
    return LinedUp(order.cpu().numpy(), differs.cumsum(dim=0).cpu().numpy())


def _places(rows: torch.Tensor, direction: Array, middle: Array) -> torch.Tensor:
    """Return where rows lie, feature after feature, as float64."""
    found = torch.zeros(len(rows), dtype=torch.float64, device=rows.device)
    for column, of_middle, step in zip(rows.T, middle.tolist(), direction.tolist()):
        found += (column.double() - of_middle) * step
    # Zero has two signs.
    return found + 0.0


def _by_value(
    order: torch.Tensor, place: torch.Tensor, values: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Order the rows of each place by value; return also which differ from the last."""
    by_value = torch.arange(len(order), device=order.device)
    for column in (*values.T.flip(0), place):
        # Zero has two signs.
        by_value = by_value[torch.sort(column[by_value] + 0, stable=True).indices]
    values = values[by_value]
    differs = (values[1:] != values[:-1]).any(dim=1) | (place[1:] != place[:-1])
    return order[by_value], _first_and(differs)


def _first_and(others: torch.Tensor) -> torch.Tensor:
    """Return truth values with one more before them, which is true."""
    return torch.cat([others.new_ones(1), others])


def _few(places: torch.Tensor, block: DeviceBlock) -> Iterator[torch.Tensor]:
    yield from places.split(max(1, VALUES_AT_ONCE // block.n_features))


def _rows(block: DeviceBlock, order: torch.Tensor) -> torch.Tensor:
    """Return some rows of a block, on the device."""
    return tensor_of(block.block.dense(order.cpu().numpy()))
