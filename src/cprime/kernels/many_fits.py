"""Several fits of k-means, or their seeds, in one call of compiled code."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cprime.blocks import Block
from cprime.kernels import _native, native
from cprime.typing import Array


class Lloyd:
    """Fits from several seeds, and where each of them ended.

    Parameters
    ----------
    block : Block
    seeds : ndarray of shape (R, C, D)
    """

    def __init__(self, block: Block, seeds: Array):
        R, C, D = seeds.shape
        self._block, self._seeds = block, seeds
        self._numbers: list[tuple[Any, ...]] = []
        self._arrays = {
            "means": np.empty((R, C, D)),
            "centers": np.empty((R, C, D)),
            "counts": np.empty((R, C)),
            "shifts": np.empty((R, C, D)),
            "labels": np.empty((R, block.n_rows, 1), dtype=np.int32),
        }

    def run(self, largest: Array, rules: dict[str, Any]) -> None:
        """Run them all.

        Parameters
        ----------
        largest : ndarray of shape (D,)
            The largest absolute value of every feature, in rows that have weight.
        rules : dict
            As `LloydRules` of the compiled code.
        """
        _native.lloyd(
            rows=native.as_rows(self._block),
            weights=self._block.weights,
            seeds=self._seeds,
            largest=largest,
            rules=rules,
            found=self._numbers,
            **self._arrays,
        )

    def fits(self) -> Iterator[tuple[Any, ...]]:
        """Yield the numbers of every fit, and its part of the arrays."""
        return zip(self._numbers, *self._arrays.values())


def draw_seeds(
    block: Block, line: Array, firsts: Array, points: Array
) -> tuple[Array, Array]:
    """Choose the seeds of R fits, each as the kernel's `draw_seeds` does.

    Parameters
    ----------
    block : Block
    line : ndarray of shape (B,), int64
    firsts : ndarray of shape (R,), int64
    points : ndarray of shape (R, C - 1, T)

    Returns
    -------
    chosen : ndarray of shape (R, C)
        Rows.
    evaluations : ndarray of shape (R,)
        Distances computed.
    """
    R, n_further, _ = points.shape
    chosen = np.empty((R, n_further + 1), dtype=np.int64)
    evaluations = np.empty(R, dtype=np.int64)
    _native.draw_many_seeds(
        rows=native.as_rows(block),
        line=line,
        weights=block.weights,
        firsts=firsts,
        points=points,
        chosen=chosen,
        evaluations=evaluations,
    )
    return chosen, evaluations
