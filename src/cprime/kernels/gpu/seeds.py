"""Which rows become seeds, by D^2 sampling on the device?

Distances stay on the device; where random points fall on the line of masses is found
in the memory of the host, in the order in which every kernel cumulates them.
"""

import numpy as np
import torch

from cprime.blocks import Block
from cprime.draws import drawn
from cprime.kernels.gpu.canonical import distances_to_all
from cprime.kernels.gpu.devices import to_device
from cprime.kernels.gpu.model import DeviceModel
from cprime.kernels.reference import SAME_LOSS
from cprime.typing import Array


def draw_seeds(
    block: Block, line: Array, first: int, points: Array
) -> tuple[Array, int]:
    """Choose seeds by D^2 sampling; return their rows, and distances computed."""
    on_line = to_device(np.ascontiguousarray(block.dense(line)))
    weights = block.weights[line]
    weights_there = to_device(np.array(weights))

    def from_rows(places: Array) -> torch.Tensor:
        means = on_line[to_device(places)]
        return distances_to_all(on_line, DeviceModel.of_means(means))

    chosen = [first]
    nearest = from_rows(np.array([first]))[:, 0]
    of_line = nearest.cpu().numpy()
    evaluations = len(line)
    for of_seed in points:
        masses = weights * of_line
        if not masses.any():
            # Every weighted row is a seed already: the rest can only repeat them.
            masses = weights
        trials = drawn(masses, of_seed)
        closest_then = torch.minimum(from_rows(trials), nearest[:, None])
        losses = (weights_there[:, None] * closest_then).sum(dim=0)
        # The first of the best to within rounding: the order of rows has no say.
        best = (losses <= losses.min() * (1.0 + SAME_LOSS)).int().argmax()
        nearest = closest_then.index_select(1, best[None])[:, 0]
        # One trip to the host for both: the index is exact as a float.
        arrived = torch.cat([nearest, best[None].double()]).cpu().numpy()
        of_line = arrived[:-1]
        chosen.append(int(trials[int(arrived[-1])]))
        evaluations += closest_then.numel()
    return line[np.array(chosen)].astype(np.int64), evaluations
