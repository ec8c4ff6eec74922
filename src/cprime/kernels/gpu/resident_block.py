"""What beside sweeps is done where the rows of a fit are?"""

from typing import Any

import numpy as np
import torch

from cprime.kernels.gpu.candidates import Candidates
from cprime.kernels.gpu.lining_up import line_up
from cprime.kernels.gpu.lloyd import Lloyd
from cprime.kernels.gpu.residents import DeviceBlock
from cprime.kernels.surveys import LinedUp
from cprime.typing import Array


class ResidentBlock(DeviceBlock):
    """A block of rows of a fit."""

    def extremes(self) -> tuple[Array, Array]:
        """Return the smallest and largest value of every feature, of weighted rows."""
        found = []
        for piece in self:
            rows = piece.rows
            if not piece.has_unit_weights:
                rows = rows[piece.weights > 0]
            if len(rows) > 0:
                found.append(torch.stack(torch.aminmax(rows, dim=0)).double())
        of_pieces = torch.stack(found)
        lowest, highest = of_pieces[:, 0].amin(dim=0), of_pieces[:, 1].amax(dim=0)
        return lowest.cpu().numpy(), highest.cpu().numpy()

    def line_up(self, direction: Array, middle: Array) -> LinedUp:
        """Return the order of the rows along a direction, and which are copies."""
        return line_up(self, direction, middle)

    def candidates(self, direction: Any, salt: int) -> Candidates:
        """Return the rows that may become seeds: none so far."""
        return Candidates(self, direction, salt)

    def fits(self, seeds: Array) -> Lloyd:
        """Return fits of k-means from several seeds, shape (R, C, D)."""
        return Lloyd(self, np.ascontiguousarray(seeds))
