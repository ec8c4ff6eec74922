"""One E-step over rows on the device: evaluate, select, normalise, accumulate."""

from functools import reduce
from operator import add
from typing import NamedTuple

import torch
import triton
from torch.nn.functional import pad

from cprime.blocks import LEAF_ROWS
from cprime.kernels.gpu.all_pairs import distances_to_all
from cprime.kernels.gpu.canonical import distances_of
from cprime.kernels.gpu.closest import Closest, Search
from cprime.kernels.gpu.everything import Products, sums_of_all
from cprime.kernels.gpu.model import DeviceModel
from cprime.kernels.gpu.residents import Piece
from cprime.kernels.gpu.shares import divided, undivided
from cprime.kernels.gpu.sums import ByCluster, sums_of_leaves
from cprime.kernels.gpu.tree import Segments, leaf_sum
from cprime.search import Plan
from cprime.summation import LeafSum

# Shares of all clusters, and moments of leaves, that are in memory at once.
SHARES_AT_ONCE = 2**26
MOMENTS_AT_ONCE = 2**27
LEAVES_AT_ONCE = 8


class Swept(NamedTuple):
    """What a sweep of a piece leaves behind: its clusters, and sums of its leaves."""

    K: torch.Tensor
    sums: LeafSum


def sweep_piece(
    piece: Piece,
    before: torch.Tensor | None,
    model: DeviceModel,
    plan: Plan,
    C_prime: int,
) -> Swept:
    """Update the clusters of the rows of a piece and add up statistics.

    Parameters
    ----------
    piece : Piece
    before : tensor of shape (B, C' or 1), int32, or None
    model : DeviceModel
    plan : Plan
    C_prime : int
    """
    if C_prime == model.C:
        return _sweep_all_clusters(piece, before, model)
    found = Search(model, piece.frame).closest(piece.rows, piece.halves, C_prime)
    if before is not None and plan.reluctance != 1.0:
        found = _reluctant(piece, before, found, model, plan.reluctance)
    shares: torch.Tensor | None
    if C_prime == 1:
        shares = None if piece.has_unit_weights else piece.weights
        scalars = undivided(found.distances, found.K, before, model, piece.weights)
    else:
        shares, of_rows = divided(found.distances, found.K, model, piece.weights)
        changed = _changed(before, found.K, piece.weights)
        scalars = _of_leaves(piece, of_rows, changed, model.C)
    pairs = ByCluster(found.K, model.C)
    moments = pairs.sums(piece.rows, model.means, shares)
    scatter = None
    if model.is_of_features:
        scatter = pairs.sums(piece.rows, model.means, shares, squared=True)[..., :-1]
    elif model.is_of_clusters:
        of_pairs = piece.weights if shares is None else shares
        scatter = pairs.sums_of_pairs(
            of_pairs.reshape(-1) * found.distances.reshape(-1)
        )
    sums = leaf_sum(pairs.segments, moments, scatter, scalars, model.whitening)
    return Swept(found.K, sums.shifted(piece.first // LEAF_ROWS))


def _sweep_all_clusters(
    piece: Piece, before: torch.Tensor | None, model: DeviceModel
) -> Swept:
    """Divide rows among all clusters (C' = C), some whole nodes of leaves at a time."""
    (n_rows, D), C = piece.rows.shape, model.C
    values = C * max(LEAF_ROWS, D + 1)
    at_once = max(1, min(SHARES_AT_ONCE, MOMENTS_AT_ONCE) // values)
    at_once = LEAF_ROWS * min(LEAVES_AT_ONCE, 2 ** (at_once.bit_length() - 1))
    products, runs = Products.of(piece, model), []
    for start in range(0, n_rows, at_once):
        some = slice(start, start + at_once)
        rows, weights = piece.rows[some], piece.weights[some]
        part = Piece(piece.first + start, rows, weights)
        if products is None:
            distances = distances_to_all(rows, model)
            shares, of_rows = divided(distances, None, model, weights)
            moments, scatter = sums_of_all(rows, shares, distances, model)
        else:
            left = at_once - len(rows)
            columns = products.columns(pad(rows, (0, 0, 0, left)))
            distances = products.distances(columns)
            shares, of_rows = divided(distances, None, model, pad(weights, (0, left)))
            n_leaves = triton.cdiv(len(rows), LEAF_ROWS)
            moments = products.sums(columns, shares)[:n_leaves]
            of_rows, scatter = of_rows[:, : len(rows)], None
            if model.is_of_clusters:
                by_leaf = (shares * distances).view(-1, LEAF_ROWS, C).sum(dim=1)
                scatter = by_leaf[:n_leaves]
        changed = torch.zeros_like(weights) if before is not None else weights > 0
        scalars = _of_leaves(part, of_rows, changed, C)
        segments = Segments.of_rows(len(rows), 0)
        sums = leaf_sum(segments, moments, scatter, scalars, model.whitening)
        runs.append(sums.shifted(part.first // LEAF_ROWS))
    nothing = torch.empty((n_rows, 0), dtype=torch.int32, device=piece.rows.device)
    return Swept(nothing, reduce(add, runs))


def _reluctant(
    piece: Piece,
    before: torch.Tensor,
    found: Closest,
    model: DeviceModel,
    reluctance: float,
) -> Closest:
    """Return the clusters of rows that leave their own only for much closer ones.

    The C' best of their own and the closest, where their own count as so much closer.
    """
    n_had, C_prime = before.shape[1], found.K.shape[1]
    own = distances_of(piece.rows, before, model, n_had)
    K = torch.cat([before, found.K], dim=1)
    distances = torch.cat([own, found.distances], dim=1)
    scores = model.scores(distances, K)
    # Boundless reluctance keeps a cluster however far it is.
    wanted = (scores / reluctance).nan_to_num(nan=0.0, posinf=torch.inf)
    wanted[:, n_had:] = scores[:, n_had:]
    # One that a row has already is no other.
    same = K[:, :, None] == K[:, None, :]
    wanted[same.tril(diagonal=-1).any(dim=2)] = torch.inf
    is_new = torch.arange(n_had + C_prime, device=K.device) >= n_had
    chosen = _ranked(K, scores, is_new.expand_as(K), wanted)[:, :C_prime]
    best_first = _ranked(K.gather(1, chosen), scores.gather(1, chosen))
    chosen = chosen.gather(1, best_first)
    return Closest(K.gather(1, chosen), distances.gather(1, chosen))


def _ranked(*keys: torch.Tensor) -> torch.Tensor:
    """Return the places of every row's entries, ordered by the last key first."""
    places = torch.argsort(keys[0], dim=1, stable=True)
    for key in keys[1:]:
        order = torch.argsort(key.gather(1, places), dim=1, stable=True)
        places = places.gather(1, order)
    return places


def _changed(
    before: torch.Tensor | None, after: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Return which rows of positive weight keep other clusters than before."""
    if before is None:
        return weights > 0
    if after.shape[1] > 1:
        before, after = before.sort(dim=1).values, after.sort(dim=1).values
    return (before != after).any(dim=1) & (weights > 0)


def _of_leaves(
    piece: Piece, of_rows: torch.Tensor, changed: torch.Tensor, C: int
) -> torch.Tensor:
    """Return the numbers in `SCALARS` of every leaf, shape (L, 7)."""
    evaluations = torch.full_like(piece.weights, C)
    rest = torch.stack([piece.weights, evaluations, changed.double()])
    return sums_of_leaves(torch.cat([of_rows, rest]))
