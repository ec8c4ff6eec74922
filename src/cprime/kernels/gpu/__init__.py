"""The E-step on an NVIDIA GPU: the reference's results, on tensor cores.

Products of half precision and a bound on their errors narrow the search to a few
candidates; those, and everything reported, are computed in float64 by the canonical
formula. Sums are formed leaf by leaf in the order of `LeafSum`, and nothing is added in
an order that could change: every run finds the same bits.
"""

from cprime.extras import require

require("gpu", "kernel='gpu'")

from functools import reduce
from operator import add
from typing import Any

import numpy as np
import torch

from cprime.blocks import Block, Kept
from cprime.kernels.gpu.all_pairs import distances_to_all
from cprime.kernels.gpu.closest import Search
from cprime.kernels.gpu.devices import device, to_device, told_if_full
from cprime.kernels.gpu.kept import DeviceKept
from cprime.kernels.gpu.model import DeviceModel
from cprime.kernels.gpu.outside import gaps_of_rows, log_sums_of_rows
from cprime.kernels.gpu.resident_block import ResidentBlock
from cprime.kernels.gpu.residents import DeviceBlock, Piece, pieces_of
from cprime.kernels.gpu.seeds import draw_seeds
from cprime.kernels.gpu.sweeping import sweep_piece
from cprime.kernels.reference import near_clusters
from cprime.search import Plan
from cprime.summation import LeafSum
from cprime.theta import Coefficients
from cprime.truncation import Truncated
from cprime.typing import Array

__all__ = [
    "distances",
    "draw_seeds",
    "fits_at_once",
    "gaps",
    "log_sums",
    "near_clusters",
    "nearer",
    "nearest",
    "posterior",
    "prepare",
    "runs",
    "sweep",
]

# Distances to all clusters that are in memory at once.
DISTANCES_AT_ONCE = 2**26


def prepare(block: Block) -> ResidentBlock:
    """Return a block of rows that will be swept many times."""
    device()
    return ResidentBlock.of(block)


@told_if_full()
def sweep(
    block: Block | DeviceBlock,
    kept: Kept | DeviceKept | None,
    coefficients: Coefficients,
    plan: Plan,
    C_prime: int,
) -> tuple[Any, LeafSum]:
    """Update the clusters of every row and add up statistics, leaf by leaf.

    The clusters of rows that were prepared stay on the device.
    """
    device()
    stays = isinstance(block, DeviceBlock)
    on_device = block if isinstance(block, DeviceBlock) else DeviceBlock(block, False)
    model = DeviceModel.of(coefficients)
    before = _clusters(kept)
    clusters, sums = [], []
    for piece in on_device:
        of_piece = None if before is None else to_device(before[piece.place])
        swept = sweep_piece(piece, of_piece, model, plan, C_prime)
        clusters.append(swept.K if stays else swept.K.cpu().numpy())
        sums.append(swept.sums)
    total = reduce(add, sums)
    if stays:
        return DeviceKept(torch.cat(clusters)), total
    return Kept(np.concatenate(clusters)), total


@told_if_full()
def posterior(values: Array, coefficients: Coefficients, C_prime: int) -> Truncated:
    """Return the C' closest clusters of every row and their log-joints."""
    device()
    model = DeviceModel.of(coefficients)

    def of_piece(piece: Piece) -> Truncated:
        found = Search(model, piece.frame).closest(piece.rows, piece.halves, C_prime)
        K, distances = (of.cpu().numpy() for of in found)
        return Truncated(K, distances, *coefficients.log_joint(distances, K))

    return Truncated.concatenated([of_piece(piece) for piece in pieces_of(values)])


def nearest(values: Array, coefficients: Coefficients) -> Array:
    """Return the closest cluster of every row, shape (B,)."""
    return posterior(values, coefficients, 1).K[:, 0]


@told_if_full()
def gaps(values: Array, K: Array, coefficients: Coefficients) -> Array:
    """Return the nats every row loses by looking at the clusters in K alone."""
    device()
    model = DeviceModel.of(coefficients)
    found = np.empty(len(values))
    for piece in pieces_of(values):
        of_piece = to_device(np.ascontiguousarray(K[piece.place]), torch.int64)
        for some in _slices(piece.n_rows, model.C):
            distances = distances_to_all(piece.rows[some], model)
            lost = gaps_of_rows(distances, of_piece[some], model)
            found[piece.place][some] = lost.cpu().numpy()
    return found


def log_sums(relative: Array) -> Array:
    """Return log sum exp of every row of values that are at most 0, shape (B,)."""
    device()
    found: Array = log_sums_of_rows(to_device(np.ascontiguousarray(relative)))
    return found


@told_if_full()
def distances(values: Array, means: Array) -> Array:
    """Return ||y - mu_c||^2 for every row and every mean, shape (B, C)."""
    device()
    model, found = DeviceModel.of_means(means), np.empty((len(values), len(means)))
    for piece in pieces_of(values):
        for some in _slices(piece.n_rows, len(means)):
            of_some = distances_to_all(piece.rows[some], model)
            found[piece.place][some] = of_some.cpu().numpy()
    return found


@told_if_full()
def nearer(
    values: Array, means: Array, known: Array, nearest: Array, owner: Array
) -> tuple[Array, Array]:
    """Return distances to the nearest mean, and which that is, of more means."""
    device()
    model = DeviceModel.of_means(means)
    nearest, owner = nearest.copy(), owner.astype(np.int32)
    for piece in pieces_of(values):
        found = Search(model, piece.frame).closest(piece.rows, piece.halves, 1)
        clusters, distances = found.K[:, 0].cpu().numpy(), found.distances[:, 0].cpu()
        is_nearer = distances.numpy() < nearest[piece.place]
        nearest[piece.place][is_nearer] = distances.numpy()[is_nearer]
        owner[piece.place][is_nearer] = clusters[is_nearer] + len(known)
    return nearest, owner


def runs(plan: Plan, coefficients: Coefficients) -> bool:
    """Return whether there is a sweep for this plan: for those that look at all."""
    return plan.near is None


def fits_at_once(n_rows: int, C: int, D: int) -> int:
    """Return how many fits of this size get on better side by side."""
    return 1


def _clusters(kept: Kept | DeviceKept | None) -> Any:
    if isinstance(kept, DeviceKept):
        return kept.clusters
    return None if kept is None else np.ascontiguousarray(kept.K, dtype=np.int32)


def _slices(n_rows: int, C: int) -> list[slice]:
    """Return parts of rows that have not too many distances to all clusters."""
    at_once = max(1, DISTANCES_AT_ONCE // C)
    return [slice(start, start + at_once) for start in range(0, n_rows, at_once)]
